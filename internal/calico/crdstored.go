package calico

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// A stored is a custom resource with every field as the API server has it: fields that we
// do not change are written back unchanged.
type stored struct {
	raw, metadata map[string]json.RawMessage
	meta          struct {
		Name            string            `json:"name"`
		UID             string            `json:"uid"`
		ResourceVersion string            `json:"resourceVersion"`
		Labels          map[string]string `json:"labels"`
		Finalizers      []string          `json:"finalizers"`
	}
}

// errNameless means that an object cannot be identified.
var errNameless = errors.New("the object has no name, UID or resourceVersion")

func parseStored(b []byte) (stored, error) {
	var s stored
	if len(b) > maxObject {
		return s, object.ErrTooBig
	}
	if err := json.Unmarshal(b, &s.raw); err != nil {
		return s, err
	}
	if err := json.Unmarshal(s.raw["metadata"], &s.metadata); err != nil {
		return s, fmt.Errorf("metadata: %w", err)
	}
	if err := json.Unmarshal(s.raw["metadata"], &s.meta); err != nil {
		return s, fmt.Errorf("metadata: %w", err)
	}
	if s.meta.Name == "" || s.meta.UID == "" || s.meta.ResourceVersion == "" {
		return s, errNameless
	}
	// Without managedFields the server keeps its own.
	delete(s.metadata, "managedFields")
	return s, nil
}

// there reports whether something was read.
func (s *stored) there() bool { return s.raw != nil }

// is reports whether it is the same object, unchanged since o was read.
func (s *stored) is(o *model.Object) bool {
	return s.there() && o.There() && s.meta.UID == o.UID && s.meta.ResourceVersion == o.Revision
}

func (s *stored) object(r model.Ref) model.Object {
	if !s.there() {
		return model.Object{Ref: r}
	}
	return model.Object{Ref: r, UID: s.meta.UID, Revision: s.meta.ResourceVersion, Labels: maps.Clone(s.meta.Labels), Body: s.raw["spec"]}
}

// with is the whole object with another spec and other labels.
func (s *stored) with(spec json.RawMessage, labels map[string]string) ([]byte, error) {
	metadata, raw := maps.Clone(s.metadata), maps.Clone(s.raw)
	delete(metadata, "labels")
	if len(labels) > 0 {
		l, err := json.Marshal(labels)
		if err != nil {
			return nil, err
		}
		metadata["labels"] = l
	}
	m, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	raw["metadata"], raw["spec"] = m, spec
	return json.Marshal(raw)
}

// fresh is an object to create.
func fresh(group string, p place, spec json.RawMessage, labels map[string]string) ([]byte, error) {
	metadata := map[string]any{"name": p.name}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	return json.Marshal(map[string]any{"apiVersion": group, "kind": p.kind, "metadata": metadata, "spec": spec})
}

// onlyIf is the body of a deletion of this object at this revision. A dry run must be set
// in it: with a body the server ignores the query and would delete.
func (s *stored) onlyIf(dryRun bool) ([]byte, error) {
	options := map[string]any{
		"apiVersion": "v1", "kind": "DeleteOptions",
		"preconditions": map[string]string{"uid": s.meta.UID, "resourceVersion": s.meta.ResourceVersion},
	}
	if dryRun {
		options["dryRun"] = []string{"All"}
	}
	return json.Marshal(options)
}
