package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

// A PodStore is where pods are, of which it writes three annotations, and the nodes,
// services and machines that proofs ask about, which it only reads.
type PodStore struct {
	Writer *Writer
	DryRun bool // the API server judges every write and does none
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
		err = fmt.Errorf("there is no %s here", r.Kind)
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

// get reads what is at a path; that it is not there is no error.
func (s PodStore) get(ctx context.Context, r model.Ref, at string, parse func([]byte) (model.Object, error)) (model.Object, error) {
	a, there, err := s.Writer.read(ctx, at)
	if err != nil || !there {
		return model.Object{Ref: r}, err
	}
	return itself(r, a.body, parse)
}

// itself parses an object and makes sure that it is the one that was asked for.
func itself(r model.Ref, b []byte, parse func([]byte) (model.Object, error)) (model.Object, error) {
	o, err := parse(b)
	if err == nil && o.Ref != r {
		err = fmt.Errorf("the answer is %s", o.Ref)
	}
	return o, err
}

// Put writes the three annotations of a pod.
func (s PodStore) Put(ctx context.Context, o model.Object) (model.Object, error) {
	if o.Ref.Kind != model.KindPod || !o.There() {
		return model.Object{}, fmt.Errorf("write %s: %w: it is not ours to make", o.Ref, execute.ErrRefused)
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

// Delete evicts a pod: this one and not another of its name, and within its disruption
// budgets.
func (s PodStore) Delete(ctx context.Context, o model.Object) error {
	if o.Ref.Kind != model.KindPod {
		return fmt.Errorf("delete %s: %w: it is not ours to end", o.Ref, execute.ErrRefused)
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
	_, err = s.Writer.Write(ctx, http.MethodPost, "/api/v1/namespaces/"+ns+"/pods/"+name+"/eviction", acceptJSON, dryRun(s.DryRun), body)
	return err
}

// RestartPod ends a pod of Calico's own; its controller makes another, which reads
// everything again. No disruption budget is asked: Calico has none, or one that its node
// could never meet.
func (s PodStore) RestartPod(ctx context.Context, r model.Ref, uid string) error {
	at, err := podAt(r)
	if err != nil || !calicoPath.MatchString(at) {
		return fmt.Errorf("restart %s: %w: not a pod of Calico's own", r, execute.ErrRefused)
	}
	a, there, err := s.Writer.read(ctx, at)
	if err != nil {
		return fmt.Errorf("restart %s: %w", r, err)
	}
	p, err := readPod(a.body)
	switch {
	case !there:
		return fmt.Errorf("restart %s: %w: it is gone", r, execute.ErrStale)
	case err != nil:
		return fmt.Errorf("restart %s: %w", r, err)
	case p.Metadata.UID != uid:
		return fmt.Errorf("restart %s: %w: it is another", r, execute.ErrStale)
	case !slices.Contains(calicoApps, p.Metadata.Labels["k8s-app"]):
		return fmt.Errorf("restart %s: %w: it does not say that it is Calico's own", r, execute.ErrRefused)
	}
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": map[string]string{"uid": uid}})
	if err != nil {
		return err
	}
	_, err = s.Writer.Write(ctx, http.MethodDelete, at, acceptJSON, dryRun(s.DryRun), body)
	return err
}

var calicoApps = []string{"calico-node", "calico-kube-controllers"}
