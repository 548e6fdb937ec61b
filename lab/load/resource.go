package load

import (
	"crypto/sha3"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// A customResource is a custom resource of Calico as the API server stores it: JSON, every
// object's keys in alphabetical order.
type customResource struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   metadata `json:"metadata"`
	Spec       any      `json:"spec"`
}

type metadata struct {
	Annotations map[string]string `json:"annotations"`
	Created     string            `json:"creationTimestamp"`
	Generation  int               `json:"generation"`
	Labels      map[string]string `json:"labels,omitempty"`
	Managed     []managedJSON     `json:"managedFields"`
	Name        string            `json:"name"`
	UID         string            `json:"uid"`
}

type managedJSON struct {
	APIVersion string          `json:"apiVersion"`
	FieldsType string          `json:"fieldsType"`
	Fields     json.RawMessage `json:"fieldsV1"`
	Manager    string          `json:"manager"`
	Operation  string          `json:"operation"`
	Time       string          `json:"time"`
}

const calicoV1 = "crd.projectcalico.org/v1"

// identity is what a resource needs besides its spec. Fields are the names of the spec's
// fields, in the notation of managedFields.
type identity struct {
	kind, plural, name, uid, fields string
	created, changed                time.Time
	generation                      int
	labels                          map[string]string
}

// storedResource is the resource as Calico's client writes it, which keeps a copy of the
// given metadata in an annotation.
func storedResource(id identity, spec any) (put, error) {
	given, err := json.Marshal(struct {
		Created *string           `json:"creationTimestamp"`
		Labels  map[string]string `json:"labels,omitempty"`
	}{nil, id.labels})
	if err != nil {
		return put{}, fmt.Errorf("encode labels of %s %s: %w", id.kind, id.name, err)
	}
	labels := ""
	if len(id.labels) > 0 {
		labels = `,"f:labels":{".":{},"f:projectcalico.org/affinity-type":{},"f:projectcalico.org/hostname-hash":{},"f:projectcalico.org/ip-version":{}}`
	}
	fields := `{"f:metadata":{"f:annotations":{".":{},"f:projectcalico.org/metadata":{}}` + labels + `},"f:spec":{".":{},` + id.fields + `}}`
	value, err := json.Marshal(customResource{
		APIVersion: calicoV1, Kind: id.kind, Spec: spec,
		Metadata: metadata{
			Annotations: map[string]string{"projectcalico.org/metadata": string(given)}, Created: id.created.Format(time.RFC3339),
			Generation: id.generation, Labels: id.labels, Name: id.name, UID: id.uid,
			Managed: []managedJSON{{calicoV1, "FieldsV1", json.RawMessage(fields), "Go-http-client", "Update", id.changed.Format(time.RFC3339)}},
		},
	})
	if err != nil {
		return put{}, fmt.Errorf("encode %s %s: %w", id.kind, id.name, err)
	}
	return put{"/registry/crd.projectcalico.org/" + id.plural + "/" + id.name, value}, nil
}

// dashed returns the name that Calico derives from a CIDR.
func dashed(p netip.Prefix) string {
	return strings.NewReplacer(".", "-", "/", "-").Replace(p.String())
}

// hostHash is the label by which Calico finds a node's affinities: a node's name may be
// longer than a label value.
func hostHash(node string) string {
	sum := sha3.Sum256([]byte(node))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
}
