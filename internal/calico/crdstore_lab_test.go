//go:build e2e

package calico

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/kube/write"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
)

func crdStore(t *testing.T, l *lab.Lab) *CRDStore {
	t.Helper()
	client, err := kube.Connect(kube.Options{Kubeconfig: l.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	crds, err := FindCRDs(t.Context(), client, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := write.New(client, kube.AgentNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return crds.Store(w)
}

// TestLabCRDStore writes through a real API server.
func TestLabCRDStore(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.KDD})
	ctx := t.Context()
	s, by := crdStore(t, l), crdStore(t, l)
	contract(t, s, by, writables)
	careful := crdStore(t, l)
	careful.DryRun = true
	dry(t, s, careful, aBlock)
	keepsTheRest(t, l, s)
	strangeNames(t, l, s)

	if _, err := s.Put(ctx, model.Object{Ref: aBlock, Body: json.RawMessage(`{"cidr":"10.250.0.0/30","misspelt":1}`)}); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("what the server would drop: %v", err)
	}
	soft := version(aHandle, 1)
	soft = json.RawMessage(strings.Replace(string(soft), `"deleted":false`, `"deleted":true`, 1))
	made, err := s.Put(ctx, model.Object{Ref: aHandle, Body: soft})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := by.Get(ctx, aHandle); err != nil || got.Revision != made.Revision {
		t.Errorf("half deleted by Calico: %+v, %v", got, err)
	}
	// A server that does not answer may have done it.
	if err := l.FreezeAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := s.Delete(short, made); err == nil || errors.Is(err, execute.ErrStale) || errors.Is(err, execute.ErrRefused) {
		t.Errorf("no answer: %v", err)
	}
	if err := l.ThawAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
}

// keepsTheRest: what others wrote of an object, and fields that a later Calico has,
// are still there after ours.
func keepsTheRest(t *testing.T, l *lab.Lab, s *CRDStore) {
	t.Helper()
	ctx := t.Context()
	definition := "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/ipamblocks.crd.projectcalico.org"
	b, err := l.Do(ctx, http.MethodGet, definition, "")
	if err != nil {
		t.Fatal(err)
	}
	const before = `"properties":{"affinity":`
	if !strings.Contains(string(b), before) {
		t.Fatal("the definition is not as it was")
	}
	later := strings.Replace(string(b), before, `"properties":{"later":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"affinity":`, 1)
	if _, err := l.Do(ctx, http.MethodPut, definition, later); err != nil {
		t.Fatal(err)
	}
	spec := strings.Replace(string(version(aBlock, 1)), `{"cidr"`, `{"later":{"n":9007199254740993,"null":null,"list":[1,{"x":"<&>"}]},"cidr"`, 1)
	object := `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMBlock","metadata":{"name":"10-250-0-0-30","labels":{"a":"b"},"annotations":{"projectcalico.org/metadata":"{\"creationTimestamp\":null}"},` +
		`"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"11111111-2222-3333-4444-555555555555"}],"finalizers":["example.org/hold"]},"spec":` + spec + `}`
	path := "/apis/crd.projectcalico.org/v1/ipamblocks"
	for try := 0; ; try++ { // the definition takes a moment to be served
		answer, err := l.Do(ctx, http.MethodPost, path+"?fieldValidation=Strict", object)
		if err == nil {
			break
		}
		if try == 40 {
			t.Fatalf("%v: %s", err, answer)
		}
		time.Sleep(250 * time.Millisecond)
	}
	o, err := s.Get(ctx, aBlock)
	if err != nil || o.Labels["a"] != "b" {
		t.Fatalf("%+v, %v", o, err)
	}
	o.Body = json.RawMessage(strings.Replace(string(o.Body), "1800000000000000002", "1800000000000000003", 1))
	o.Labels["c"] = "d"
	if o, err = s.Put(ctx, o); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Do(ctx, http.MethodGet, path+"/10-250-0-0-30", ""); err != nil {
		t.Fatal(err)
	}
	got, want := generic(t, b).(map[string]any), generic(t, []byte(object)).(map[string]any)
	meta := got["metadata"].(map[string]any)
	for _, k := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		if meta[k] == nil {
			t.Errorf("%s is gone", k)
		}
		delete(meta, k)
	}
	want["metadata"].(map[string]any)["labels"].(map[string]any)["c"] = "d"
	want["spec"].(map[string]any)["sequenceNumber"] = json.Number("1800000000000000003")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if err := s.Delete(ctx, o); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("somebody holds it: %v", err)
	}
	if _, err := l.Kubectl(ctx, "patch", "ipamblocks.crd.projectcalico.org", "10-250-0-0-30", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	if o, err = s.Get(ctx, aBlock); err == nil {
		err = s.Delete(ctx, o)
	}
	if err != nil {
		t.Error(err)
	}
}

// strangeNames: an affinity is found by what it says, whatever it is called.
func strangeNames(t *testing.T, l *lab.Lab, s *CRDStore) {
	t.Helper()
	ctx := t.Context()
	named := func(name string, spec json.RawMessage) {
		t.Helper()
		object := fmt.Sprintf(`{"apiVersion":"crd.projectcalico.org/v1","kind":"BlockAffinity","metadata":{"name":%q},"spec":%s}`, name, spec)
		if b, err := l.Do(ctx, http.MethodPost, "/apis/crd.projectcalico.org/v1/blockaffinities", object); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
	}
	other := model.Ref{Kind: model.KindAffinity, Name: "w2/10.250.0.0/30"}
	named("w1-10-250-0-0-30", version(other, 1)) // another's object under our name
	if got, err := s.Get(ctx, anAffine); err != nil || got.There() {
		t.Errorf("%+v, %v", got, err)
	}
	named("old-name", version(anAffine, 1))
	for _, r := range []model.Ref{anAffine, other} {
		o, err := s.Get(ctx, r)
		if err != nil || !same(t, o.Body, version(r, 1)) {
			t.Fatalf("%+v, %v", o, err)
		}
		o.Body, o.Labels = version(r, 2), object.AffinityLabels("w1", netip.MustParsePrefix("10.250.0.0/30"))
		if o, err = s.Put(ctx, o); err != nil || len(o.Labels) != 3 {
			t.Fatalf("%+v, %v", o, err)
		}
	}
	named("third", version(anAffine, 3))
	if _, err := s.Get(ctx, anAffine); !errors.Is(err, errTwice) {
		t.Errorf("two say it: %v", err)
	}
	if _, err := l.Kubectl(ctx, "delete", "blockaffinities.crd.projectcalico.org", "third"); err != nil {
		t.Fatal(err)
	}
	for _, r := range []model.Ref{anAffine, other} {
		o, err := s.Get(ctx, r)
		if err == nil {
			err = s.Delete(ctx, o)
		}
		if err != nil {
			t.Error(err)
		}
	}
	long := model.Ref{Kind: model.KindAffinity, Name: strings.Repeat("a", 245) + "/10.250.0.0/30"}
	o, err := s.Put(ctx, model.Object{Ref: long, Body: version(long, 1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(ctx, o); err != nil {
		t.Error(err)
	}
}
