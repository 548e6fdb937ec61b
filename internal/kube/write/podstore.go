package write

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

// A PodStore writes three annotations of pods, and reads the nodes, services and machines
// that verifications need.
type PodStore struct {
	Writer *Writer
	DryRun bool // the API server validates every write and persists none
}

var _ execute.Store = PodStore{}

// Get reads an object live.
func (s PodStore) Get(ctx context.Context, r model.Ref) (o model.Object, err error) {
	switch r.Kind {
	case model.KindPod:
		o, err = s.pod(ctx, r)
	case model.KindNode:
		o, err = s.node(ctx, r)
	case model.KindService:
		o, err = s.service(ctx, r)
	case model.KindVM:
		o, err = s.machine(ctx, r)
	default:
		err = fmt.Errorf("a %s is not stored in Kubernetes", r.Kind)
	}
	if err != nil {
		return model.Object{}, fmt.Errorf("%s: %w", r, err)
	}
	return o, nil
}

func (s PodStore) pod(ctx context.Context, r model.Ref) (model.Object, error) {
	at, err := podAt(r)
	if err != nil {
		return model.Object{}, err
	}
	return s.get(ctx, r, at, parsePod)
}

func podAt(r model.Ref) (string, error) {
	ns, name, err := split(r.Name)
	return "/api/v1/namespaces/" + ns + "/pods/" + name, err
}

// get reads a path; a missing object is not an error.
func (s PodStore) get(ctx context.Context, r model.Ref, at string, parse func([]byte) (model.Object, error)) (model.Object, error) {
	a, there, err := s.Writer.read(ctx, at)
	if err != nil || !there {
		return model.Object{Ref: r}, err
	}
	return itself(r, a.body, parse)
}

// itself parses an object and verifies that it is the requested one.
func itself(r model.Ref, b []byte, parse func([]byte) (model.Object, error)) (model.Object, error) {
	o, err := parse(b)
	if err == nil && o.Ref != r {
		err = fmt.Errorf("the answer is another object: %s", o.Ref)
	}
	return o, err
}

// Put writes the three annotations of a pod.
func (s PodStore) Put(ctx context.Context, o model.Object) (model.Object, error) {
	if o.Ref.Kind != model.KindPod || !o.There() {
		return model.Object{}, fmt.Errorf("write %s: %w: Plumbline does not create it", o.Ref, execute.ErrRefused)
	}
	at, err := podAt(o.Ref)
	if err != nil {
		return model.Object{}, fmt.Errorf("%w: %w", execute.ErrRefused, err)
	}
	patch, err := patchOf(o)
	if err != nil {
		return model.Object{}, fmt.Errorf("%w: %w", execute.ErrRefused, err)
	}
	b, err := s.Writer.Write(ctx, http.MethodPatch, at+"/status", strategicMerge, dryRun(s.DryRun), patch)
	if err != nil {
		return model.Object{}, err
	}
	now, err := itself(o.Ref, b, parsePod)
	if err != nil {
		return model.Object{}, fmt.Errorf("%s is written, but: %w", o.Ref, err)
	}
	return now, nil
}

// Delete evicts a pod: only the one with this UID, and within its disruption budgets.
func (s PodStore) Delete(ctx context.Context, o model.Object) error {
	if o.Ref.Kind != model.KindPod {
		return fmt.Errorf("delete %s: %w: Plumbline does not delete it", o.Ref, execute.ErrRefused)
	}
	ns, name, err := split(o.Ref.Name)
	if err != nil {
		return fmt.Errorf("%w: %w", execute.ErrRefused, err)
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "policy/v1", "kind": "Eviction",
		"metadata":      map[string]string{"namespace": ns, "name": name},
		"deleteOptions": map[string]any{"preconditions": map[string]string{"uid": o.UID}},
	})
	if err != nil {
		return err
	}
	_, err = s.Writer.Write(ctx, http.MethodPost, "/api/v1/namespaces/"+ns+"/pods/"+name+"/eviction", kube.AcceptJSON, dryRun(s.DryRun), body)
	return err
}

// RestartPod deletes a pod of Calico; its controller creates another, which reads
// everything again. Disruption budgets do not apply: Calico has none, or one that a single
// node could never meet.
func (s PodStore) RestartPod(ctx context.Context, r model.Ref, uid string) error {
	at, err := podAt(r)
	if err != nil || !calicoPath.MatchString(at) {
		return fmt.Errorf("restart %s: %w: not a pod of Calico", r, execute.ErrRefused)
	}
	a, there, err := s.Writer.read(ctx, at)
	if err != nil {
		return fmt.Errorf("restart %s: %w", r, err)
	}
	p, err := readPod(a.body)
	switch {
	case !there:
		return fmt.Errorf("restart %s: %w: the pod is gone", r, execute.ErrStale)
	case err != nil:
		return fmt.Errorf("restart %s: %w", r, err)
	case p.Metadata.UID != uid:
		return fmt.Errorf("restart %s: %w: another pod has its name", r, execute.ErrStale)
	case !slices.Contains(calicoApps, p.Metadata.Labels["k8s-app"]):
		return fmt.Errorf("restart %s: %w: its labels are not those of Calico", r, execute.ErrRefused)
	}
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]string{"uid": uid}})
	if err != nil {
		return err
	}
	_, err = s.Writer.Write(ctx, http.MethodDelete, at, kube.AcceptJSON, dryRun(s.DryRun), body)
	return err
}

var calicoApps = []string{"calico-node", "calico-kube-controllers"}
