//go:build e2e

package write

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

// rails: the account can do what repairs do, and the API server lets it do nothing else.
func (e *edge) rails(t *testing.T, c *kube.Client) {
	s := PodStore{Writer: writing(t, c)}
	send := bare(t, c)
	defer e.holds(t, s.Writer)()
	r := e.runs("default", "railed", `{"app":"railed"}`)
	victim := e.runs("default", "victim", `{"app":"victim"}`)
	calico := e.runs("kube-system", "calico-node-x7k2p", `{"k8s-app":"calico-node"}`)
	e.runs("kube-system", "calico-node-y7k2p", `{"k8s-app":"kube-dns"}`)
	at := "/api/v1/namespaces/default/pods/railed/status"
	e.wait("the policies are at work", func() error {
		if code, said := send("PATCH", at, strategicMerge, `{"metadata":{"labels":{"app":"x"}}}`); code != 422 {
			return fmt.Errorf("%d %s", code, said)
		}
		if code, said := send("POST", parent(leaseAt("plumbline-system"))+"/leases", kube.AcceptJSON, `{"metadata":{"name":"other"}}`); code != 422 {
			return fmt.Errorf("%d %s", code, said)
		}
		return nil
	})
	o, b := e.get(t, s, r)
	if _, err := s.Put(t.Context(), with(t, o, model.PodBody{PodIP: "10.244.9.8/32", PodIPs: "10.244.9.8/32", ContainerID: "c1", Annotated: true})); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("an address that the pod does not have: %v", err)
	}
	b.PodIP, b.PodIPs, b.ContainerID, b.Annotated = "10.244.9.9/32", "10.244.9.9/32", "c1", true
	now, err := s.Put(t.Context(), with(t, o, b))
	if err != nil {
		t.Errorf("the three annotations: %v", err)
	}
	if _, err := s.Put(t.Context(), with(t, now, model.PodBody{})); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("cleared while the pod has the address: %v", err)
	}
	e.reports("default", "railed", "10.244.9.7")
	now, _ = e.get(t, s, r)
	if _, err := s.Put(t.Context(), with(t, now, model.PodBody{})); err != nil {
		t.Errorf("taken back after its sandbox is another one: %v", err)
	}
	before, _ := e.get(t, s, r)
	maps := "/api/v1/namespaces/plumbline-system/configmaps"
	e.do("POST", maps, `{"metadata":{"name":"plumbline-stop"}}`)
	evict := `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"victim","namespace":"default"}%s}`
	for _, bad := range []struct {
		method, path, kind, body string
		code                     int
	}{
		{"PATCH", at, strategicMerge, `{"metadata":{"labels":{"app":"x"}}}`, 422},
		{"PATCH", at, strategicMerge, `{"metadata":{"labels":null}}`, 422},
		{"PATCH", at, strategicMerge, `{"metadata":{"annotations":{"kept":"no"}}}`, 422},
		{"PATCH", at, strategicMerge, `{"metadata":{"annotations":{"kept":null}}}`, 422},
		{"PATCH", at, strategicMerge, `{"metadata":{"annotations":null}}`, 422},
		{"PATCH", at, strategicMerge, `{"metadata":{"annotations":{"cni.projectcalico.org/podIP":"10.0.0.1/32","cni.projectcalico.org/ipAddrs":"[]"}}}`, 422},
		{"PATCH", at, strategicMerge, `{"metadata":{"finalizers":["a.b/c"]}}`, 422},
		{"PATCH", at, strategicMerge, `{"status":{"phase":"Failed"}}`, 422},
		{"PATCH", at, strategicMerge, `{"status":{"podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}]}}`, 422},
		{"PATCH", at, "application/json-patch+json", `[{"op":"replace","path":"/status/phase","value":"Failed"}]`, 422},
		{"PATCH", at, "application/merge-patch+json", `{"status":null}`, 422},
		{"PUT", at, kube.AcceptJSON, `{"metadata":{"name":"railed"}}`, 403},
		{"PATCH", strings.TrimSuffix(at, "/status"), strategicMerge, `{"metadata":{"labels":{"app":"x"}}}`, 403},
		{"DELETE", strings.TrimSuffix(at, "/status"), kube.AcceptJSON, ``, 403},
		{"DELETE", "/api/v1/namespaces/kube-system/pods/calico-node-y7k2p", kube.AcceptJSON, ``, 422},
		{"DELETE", "/api/v1/namespaces/kube-system/pods", kube.AcceptJSON, ``, 403},
		{"POST", "/api/v1/namespaces/default/pods/victim/eviction", kube.AcceptJSON, fmt.Sprintf(evict, ""), 422},
		{"POST", "/api/v1/namespaces/default/pods/victim/eviction", kube.AcceptJSON, fmt.Sprintf(evict, `,"deleteOptions":{"gracePeriodSeconds":0,"preconditions":{"uid":"u"}}`), 422},
		{"POST", "/api/v1/namespaces/kube-system/pods/calico-node-y7k2p/eviction", kube.AcceptJSON, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"calico-node-y7k2p","namespace":"kube-system"},"deleteOptions":{"preconditions":{"uid":"u"}}}`, 422},
		{"PATCH", at, strategicMerge, `{"metadata":{"annotations":{"cni.projectcalico.org/podIP":"10.244.9.7/32","cni.projectcalico.org/podIPs":"10.244.9.7/32,10.0.0.1/32"}}}`, 403},
		{"PATCH", at, strategicMerge, `{"metadata":{"annotations":{"cni.projectcalico.org/podIP":"10.0.0.1/32"}}}`, 403},
		{"POST", "/apis/crd.projectcalico.org/v1/ipamhandles", kube.AcceptJSON, `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"name":"other"},"spec":{"handleID":"h9","deleted":false,"block":{}}}`, 403},
		{"POST", "/apis/crd.projectcalico.org/v1/ipamhandles", kube.AcceptJSON, `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"name":"h9"},"spec":{"handleID":"h9","deleted":true,"block":{}}}`, 403},
		{"POST", "/apis/crd.projectcalico.org/v1/blockaffinities", kube.AcceptJSON, `{"apiVersion":"crd.projectcalico.org/v1","kind":"BlockAffinity","metadata":{"name":"v-a"},"spec":{"state":"confirmed","node":"v","type":"virtual","cidr":"10.244.8.0/26","deleted":"false"}}`, 403},
		{"POST", "/apis/crd.projectcalico.org/v1/ipamblocks", kube.AcceptJSON, `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMBlock","metadata":{"name":"10-244-8-0-30"},"spec":{"cidr":"10.244.8.0/30","affinity":"host:v","allocations":[null,null,null,null],"unallocated":[0,1,1,3],"attributes":[],"strictAffinity":false}}`, 403},
		{"POST", "/api/v1/namespaces/plumbline-system/serviceaccounts/plumbline-reader/token", kube.AcceptJSON, `{"spec":{"audiences":["https://kubernetes.default.svc"]}}`, 422},
		{"POST", maps, kube.AcceptJSON, `{"metadata":{"name":"mine"}}`, 422},
		{"DELETE", maps + "/plumbline-stop", kube.AcceptJSON, ``, 422},
		{"PUT", maps + "/plumbline-stop", kube.AcceptJSON, `{"metadata":{"name":"plumbline-stop"}}`, 422},
		{"DELETE", maps, kube.AcceptJSON, ``, 403},
		{"POST", "/api/v1/namespaces/kube-system/configmaps", kube.AcceptJSON, `{"metadata":{"name":"plumbline-journal-a-0"}}`, 403},
		{"POST", leaseAt("plumbline-system"), kube.AcceptJSON, `{"metadata":{"name":"other"}}`, 422},
		{"POST", leaseAt("kube-system"), kube.AcceptJSON, `{"metadata":{"name":"plumbline-apply"}}`, 403},
		{"POST", "/api/v1/namespaces/plumbline-system/serviceaccounts/plumbline-repairer/token", kube.AcceptJSON, `{"spec":{"audiences":[]}}`, 422},
		{"POST", "/api/v1/namespaces/plumbline-system/serviceaccounts/plumbline-agent/token", kube.AcceptJSON, `{"spec":{"audiences":["plumbline-agent"]}}`, 403},
		{"GET", "/api/v1/namespaces/plumbline-system/secrets", kube.AcceptJSON, ``, 403},
		{"PUT", "/apis/crd.projectcalico.org/v1/ippools/default-ipv4-ippool", kube.AcceptJSON, `{}`, 403},
		{"DELETE", "/apis/crd.projectcalico.org/v1/ipamblocks", kube.AcceptJSON, ``, 403},
	} {
		if code, said := send(bad.method, bad.path, bad.kind, bad.body); code != bad.code {
			t.Errorf("%s %s %s: %d, want %d: %.300s", bad.method, bad.path, bad.body, code, bad.code, said)
		}
	}
	if after, _ := e.get(t, s, r); after.Revision != before.Revision {
		t.Errorf("the pod was written: %s", after.Body)
	}
	if err := s.Writer.Stop(t.Context()); !errors.Is(err, errStopped) {
		t.Errorf("the switch: %v", err)
	}
	v, _ := e.get(t, s, victim)
	if err := s.Delete(t.Context(), v); err != nil {
		t.Errorf("an eviction: %v", err)
	}
	e.restart(t, s, calico)
	if _, _, err := c.AgentToken(t.Context(), "plumbline-system", "plumbline-repairer", "plumbline-agent/w1"); err != nil {
		t.Errorf("a token for agents: %v", err)
	}
	e.records(t, s.Writer)
	// Whoever else it is goes unjudged.
	if code, said := bare(t, e.admin)("PATCH", at, strategicMerge, `{"metadata":{"labels":{"app":"x"}}}`); code != 200 {
		t.Errorf("an administrator: %d %s", code, said)
	}
}

func (e *edge) restart(t *testing.T, s PodStore, r model.Ref) {
	o, _ := e.get(t, s, r)
	dry := PodStore{Writer: s.Writer, DryRun: true}
	if err := dry.RestartPod(t.Context(), r, o.UID); err != nil {
		t.Errorf("a dry restart: %v", err)
	}
	if now, b := e.get(t, s, r); now.UID != o.UID || b.Deleted {
		t.Errorf("a dry run ended the pod: %s", now.Body)
	}
	if err := s.RestartPod(t.Context(), r, "other"); !errors.Is(err, execute.ErrStale) {
		t.Errorf("another UID: %v", err)
	}
	if err := s.RestartPod(t.Context(), model.Ref{Kind: model.KindPod, Name: "kube-system/calico-node-y7k2p"}, "u"); !errors.Is(err, execute.ErrStale) {
		t.Errorf("another pod: %v", err)
	}
	if err := s.RestartPod(t.Context(), r, o.UID); err != nil {
		t.Errorf("a restart: %v", err)
	}
}

// records: Calico's records by compare-and-swap, as the account.
func (e *edge) records(t *testing.T, w *Writer) {
	ctx := t.Context()
	const all = "/apis/crd.projectcalico.org/v1/ipamhandles"
	var dry url.Values
	write := func(method, path, body string) error {
		_, err := w.Write(ctx, method, path, kube.AcceptJSON, dry, []byte(body))
		return err
	}
	made := `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","metadata":{"name":"h"},"spec":{"handleID":"h","deleted":false,"block":{"10.244.8.0/26":1}}}`
	dry = dryRun(true)
	if err := write("POST", all, made); err != nil {
		t.Errorf("a dry creation: %v", err)
	}
	dry = nil
	if err := write("POST", all, made); err != nil { // were the dry one done, this would be stale
		t.Fatal(err)
	}
	if err := write("POST", all, made); !errors.Is(err, execute.ErrStale) {
		t.Errorf("made twice: %v", err)
	}
	var was struct{ Metadata identity }
	if err := e.l.Get(ctx, all+"/h", &was); err != nil {
		t.Fatal(err)
	}
	put := strings.Replace(made, `"name":"h"`, fmt.Sprintf(`"name":"h","uid":%q,"resourceVersion":%q`, was.Metadata.UID, was.Metadata.ResourceVersion), 1)
	put = strings.Replace(put, ":1}", ":2}", 1)
	other := strings.Replace(put, was.Metadata.UID, "11111111-2222-3333-4444-555555555555", 1)
	options := fmt.Sprintf(`{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":%q,"resourceVersion":%q}}`, was.Metadata.UID, was.Metadata.ResourceVersion)
	dry = dryRun(true)
	if err := errors.Join(write("PUT", all+"/h", put), write("DELETE", all+"/h", options)); err != nil { // were the first done, the second would be stale
		t.Errorf("dry: %v", err)
	}
	dry = nil
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"another UID":     {write("PUT", all+"/h", other), execute.ErrStale},
		"an update":       {write("PUT", all+"/h", put), nil},
		"an old revision": {write("PUT", all+"/h", put), execute.ErrStale},
		"an old deletion": {write("DELETE", all+"/h", options), execute.ErrStale},
		"nonsense":        {write("POST", all, strings.Replace(strings.Replace(made, `"name":"h"`, `"name":"h2"`, 1), `"10.244.8.0/26":1`, `"10.244.8.0/26":"one"`, 1)), execute.ErrRefused},
		"none to delete":  {write("DELETE", all+"/none", options), execute.ErrStale},
		"none to update":  {write("PUT", all+"/none", strings.ReplaceAll(put, `"name":"h"`, `"name":"none"`)), execute.ErrStale},
	} {
		if !errors.Is(c.err, c.want) || (c.err == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if err := e.l.Get(ctx, all+"/h", &was); err != nil {
		t.Fatal(err)
	}
	options = fmt.Sprintf(`{"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":%q,"resourceVersion":%q}}`, was.Metadata.UID, was.Metadata.ResourceVersion)
	if err := write("DELETE", all+"/h", options); err != nil {
		t.Errorf("a deletion: %v", err)
	}
}
