//go:build e2e

package write

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
)

func (e *edge) status(t *testing.T) {
	s := PodStore{Writer: writing(t, e.admin)}
	dry := PodStore{Writer: s.Writer, DryRun: true}
	r := e.runs("default", "web", `{"app":"web"}`)
	o, b := e.get(t, s, r)
	if b.Annotated || b.Phase != model.Running || b.Node != "fake" || len(b.IPs) != 1 || b.IPs[0].String() != "10.244.9.9" {
		t.Fatalf("%s", o.Body)
	}
	for ip, want := range map[string]bool{"10.244.9.9": true, "10.244.9.8": false} {
		with, err := s.PodsWith(t.Context(), netip.MustParseAddr(ip))
		has := slices.ContainsFunc(with, func(p model.Object) bool { return p.Ref == r && p.UID == o.UID && len(p.Body) > 0 })
		if err != nil || has != want {
			t.Errorf("pods with %s: %+v, %v", ip, with, err)
		}
	}
	b.PodIP, b.PodIPs, b.ContainerID, b.Annotated, b.Node, b.Phase = "10.244.9.9/32", "10.244.9.9/32", "c1", true, "other", model.Failed
	want := with(t, o, b)
	if _, err := dry.Put(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if now, nb := e.get(t, s, r); now.Revision != o.Revision || nb.Annotated {
		t.Errorf("a dry run wrote %s", now.Body)
	}
	wrong := want
	wrong.UID = "11111111-2222-3333-4444-555555555555"
	if _, err := s.Put(t.Context(), wrong); !errors.Is(err, execute.ErrStale) {
		t.Errorf("another UID: %v", err)
	}
	now, err := s.Put(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	again, nb := e.get(t, s, r)
	if nb.PodIP != "10.244.9.9/32" || nb.PodIPs != nb.PodIP || nb.ContainerID != "c1" || !nb.Annotated || nb.Node != "fake" || nb.Phase != model.Running || again.Revision != now.Revision || again.Revision == o.Revision {
		t.Errorf("%s, answered %s", again.Body, now.Body)
	}
	if _, err := s.Put(t.Context(), want); !errors.Is(err, execute.ErrStale) {
		t.Errorf("an old revision: %v", err)
	}
	e.do("DELETE", "/api/v1/namespaces/default/pods/web", "")
	e.runs("default", "web", `{"app":"web"}`)
	for _, old := range []model.Object{want, now} { // of the pod that had the name
		if _, err := s.Put(t.Context(), old); !errors.Is(err, execute.ErrStale) {
			t.Errorf("another pod: %v", err)
		}
		if err := s.Delete(t.Context(), old); !errors.Is(err, execute.ErrStale) {
			t.Errorf("another pod: %v", err)
		}
	}
	now, _ = e.get(t, s, r)
	if now, err = s.Put(t.Context(), with(t, now, b)); err != nil {
		t.Fatal(err)
	}
	gone := want
	gone.Ref.Name = "default/gone"
	if _, err := s.Put(t.Context(), gone); !errors.Is(err, execute.ErrStale) {
		t.Errorf("no pod: %v", err)
	}
	if now, err = s.Put(t.Context(), with(t, now, model.PodBody{})); err != nil {
		t.Fatal(err)
	}
	if _, nb = e.get(t, s, r); nb.Annotated || nb.ContainerID != "" || nb.PodIPs != "" {
		t.Errorf("taken back: %+v", nb)
	}
	var pod struct {
		Metadata struct{ Labels, Annotations map[string]string }
	}
	if err := e.l.Get(t.Context(), "/api/v1/namespaces/default/pods/web", &pod); err != nil || pod.Metadata.Annotations["kept"] != "yes" || len(pod.Metadata.Annotations) != 1 || pod.Metadata.Labels["app"] != "web" {
		t.Errorf("what is not ours: %+v, %v", pod, err)
	}
}

func (e *edge) eviction(t *testing.T) {
	s := PodStore{Writer: writing(t, e.admin)}
	r := e.runs("default", "guarded", `{"app":"guarded"}`)
	o, _ := e.get(t, s, r)
	wrong := o
	wrong.UID = "11111111-2222-3333-4444-555555555555"
	if err := s.Delete(t.Context(), wrong); !errors.Is(err, execute.ErrStale) {
		t.Errorf("another UID: %v", err)
	}
	budgets := "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	budget := `{"metadata":{"name":%q},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"guarded"}}}}`
	e.do("POST", budgets, fmt.Sprintf(budget, "one"))
	if err := s.Delete(t.Context(), o); !errors.Is(err, execute.ErrRefused) || !strings.Contains(err.Error(), "still being processed") {
		t.Errorf("a budget that nobody has counted: %v", err)
	}
	var one map[string]any // no controller counts here either
	if err := e.l.Get(t.Context(), budgets+"/one", &one); err != nil {
		t.Fatal(err)
	}
	one["status"] = map[string]any{"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
	counted, _ := json.Marshal(one)
	e.do("PUT", budgets+"/one/status", string(counted))
	e.wait("the budget counts", func() error { // read from a cache
		err := s.Delete(t.Context(), o)
		if !errors.Is(err, execute.ErrRefused) {
			t.Fatalf("over budget: %v", err)
		}
		if strings.Contains(err.Error(), "Cannot evict pod as it would violate the pod's disruption budget") && !strings.Contains(err.Error(), "still being processed") {
			return nil
		}
		return err
	})
	e.do("POST", budgets, fmt.Sprintf(budget, "two"))
	e.wait("both budgets count", func() error {
		err := s.Delete(t.Context(), o)
		if !errors.Is(err, execute.ErrRefused) {
			t.Fatalf("two budgets: %v", err)
		}
		if strings.Contains(err.Error(), "more than one PodDisruptionBudget") {
			return nil
		}
		return err
	})
	e.do("DELETE", budgets+"/one", "")
	e.do("DELETE", budgets+"/two", "")
	if err := (PodStore{Writer: s.Writer, DryRun: true}).Delete(t.Context(), o); err != nil {
		t.Errorf("dry: %v", err)
	}
	if now, b := e.get(t, s, r); now.UID != o.UID || b.Deleted {
		t.Errorf("a dry run ended the pod: %s", now.Body)
	}
	e.wait("no budget counts", func() error { return s.Delete(t.Context(), o) })
	if now, b := e.get(t, s, r); now.There() && !b.Deleted {
		t.Errorf("it lives: %s", now.Body)
	}
	e.wait("it is gone", func() error {
		if now, _ := e.get(t, s, r); now.There() {
			return errors.New("still there")
		}
		return nil
	})
	if err := s.Delete(t.Context(), o); !errors.Is(err, execute.ErrStale) {
		t.Errorf("no pod: %v", err)
	}
}

func (e *edge) existence(t *testing.T) {
	s := PodStore{Writer: writing(t, e.admin)}
	for r, want := range map[model.Ref]bool{
		{Kind: model.KindNode, Name: "fake"}:                  true,
		{Kind: model.KindNode, Name: "none"}:                  false,
		{Kind: model.KindService, Name: "default/kubernetes"}: true,
		{Kind: model.KindService, Name: "none/kubernetes"}:    false,
		{Kind: model.KindVM, Name: "default/none"}:            false, // no KubeVirt here
		{Kind: model.KindPod, Name: "none/none"}:              false,
	} {
		o, err := s.Get(t.Context(), r)
		if err != nil || o.There() != want || o.Ref != r || want && o.UID == "" {
			t.Errorf("%s: %+v, %v", r, o, err)
		}
	}
	if o, _ := s.Get(t.Context(), model.Ref{Kind: model.KindNode, Name: "fake"}); string(o.Body) != `{"ready":false,"bootID":"","taints":["node.kubernetes.io/not-ready:NoSchedule"]}` {
		t.Errorf("%s", o.Body)
	}
}
