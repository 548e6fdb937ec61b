package write

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
)

func TestPodAsARepairKnowsIt(t *testing.T) {
	t.Parallel()
	yes := true
	p := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "db-0", UID: "u-1", ResourceVersion: "42",
			Annotations: map[string]string{kube.AnnotationPodIP: "", kube.AnnotationContainerID: "c1", kube.AnnotationMirror: "static-1"},
			OwnerReferences: []metav1.OwnerReference{
				{Kind: "Other", Name: "x"},
				{Kind: "StatefulSet", Name: "db", Controller: &yes},
			},
			DeletionTimestamp: &metav1.Time{Time: time.Unix(1e9, 0)},
		},
		Spec: corev1.PodSpec{NodeName: "w1", HostNetwork: true},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.5",
			PodIPs: []corev1.PodIP{{IP: "10.0.0.5"}, {IP: "FD00::5"}},
		},
	}
	parse := func() model.Object {
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		o, err := parsePod(b)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	o := parse()
	want := `{"node":"w1","phase":"Running","deleted":true,"hostNetwork":true,"ips":["10.0.0.5","fd00::5"],"podIP":"","podIPs":"","containerID":"c1",` +
		`"static":"static-1","owner":"StatefulSet/db","annotated":true}`
	if string(o.Body) != want || o.UID != "u-1" || o.Revision != "42" || o.Ref != (model.Ref{Kind: model.KindPod, Name: "shop/db-0"}) {
		t.Errorf("%+v\n%s", o, o.Body)
	}
	p.Annotations, p.DeletionTimestamp, p.Status.PodIPs = nil, nil, nil
	want = `{"node":"w1","phase":"Running","deleted":false,"hostNetwork":true,"ips":["10.0.0.5"],"podIP":"","podIPs":"","containerID":"","static":"","owner":"StatefulSet/db","annotated":false}`
	if o := parse(); string(o.Body) != want {
		t.Errorf("%s", o.Body)
	}
	for _, bad := range []string{``, `{`, `{}`, `{"metadata":{"name":"a","namespace":"b","uid":"c"}}`, `{"metadata":{"resourceVersion":"1"}}`, `[]`} {
		if o, err := parsePod([]byte(bad)); err == nil {
			t.Errorf("%s: %+v", bad, o)
		}
	}
}

func TestOnlyThreeAnnotationsAreWritten(t *testing.T) {
	t.Parallel()
	o := model.Object{UID: "u-1", Revision: "42"}
	for body, want := range map[string]string{
		`{"node":"w2","phase":"Failed","podIP":"10.0.0.5/32","podIPs":"10.0.0.5/32,fd00::5/128","containerID":"c1","annotated":true}`: `{"metadata":{"uid":"u-1","resourceVersion":"42",` +
			`"annotations":{"cni.projectcalico.org/containerID":"c1","cni.projectcalico.org/podIP":"10.0.0.5/32","cni.projectcalico.org/podIPs":"10.0.0.5/32,fd00::5/128"}}}`,
		`{"annotated":true}`: `{"metadata":{"uid":"u-1","resourceVersion":"42","annotations":{"cni.projectcalico.org/containerID":"","cni.projectcalico.org/podIP":"","cni.projectcalico.org/podIPs":""}}}`,
		`{"podIP":"10.0.0.5/32"}`: `{"metadata":{"uid":"u-1","resourceVersion":"42",` +
			`"annotations":{"cni.projectcalico.org/containerID":"","cni.projectcalico.org/podIP":"10.0.0.5/32","cni.projectcalico.org/podIPs":""}}}`,
		`{}`: `{"metadata":{"uid":"u-1","resourceVersion":"42","annotations":{"cni.projectcalico.org/containerID":null,"cni.projectcalico.org/podIP":null,"cni.projectcalico.org/podIPs":null}}}`,
	} {
		o.Body = json.RawMessage(body)
		if got, err := patchOf(o); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", body, got, err)
		}
	}
	o.Body = json.RawMessage(`{`)
	if _, err := patchOf(o); err == nil {
		t.Error("no body, and a patch")
	}
}

// Nothing is sent for what is not ours to write.
func TestNotOurs(t *testing.T) {
	t.Parallel()
	w, n := answers(t, said{200, `{}`, ""})
	s := PodStore{Writer: w}
	pod := model.Ref{Kind: model.KindPod, Name: "shop/db-0"}
	for name, err := range map[string]error{
		"a node is written":     second(s.Put(t.Context(), model.Object{Ref: model.Ref{Kind: model.KindNode, Name: "w1"}, UID: "u", Revision: "1", Body: []byte(`{}`)})),
		"a service is deleted":  s.Delete(t.Context(), model.Object{Ref: model.Ref{Kind: model.KindService, Name: "a/b"}, UID: "u", Revision: "1"}),
		"a pod is made":         second(s.Put(t.Context(), model.Object{Ref: pod, Body: []byte(`{}`)})),
		"any pod of that name":  second(s.Put(t.Context(), model.Object{Ref: pod, Revision: "1", Body: []byte(`{}`)})),
		"evicted without a UID": s.Delete(t.Context(), model.Object{Ref: pod, Revision: "1"}),
		"a name that leads out": s.Delete(t.Context(), model.Object{Ref: model.Ref{Kind: model.KindPod, Name: "a/../b"}, UID: "u", Revision: "1"}),
		"somebody's pod ends":   s.RestartPod(t.Context(), pod, "u"),
		"no UID, Calico's ends": s.RestartPod(t.Context(), model.Ref{Kind: model.KindPod, Name: "shop/calico-node-x"}, ""),
	} {
		if !errors.Is(err, execute.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n.Load() != 0 {
		t.Errorf("%d requests were sent", n.Load())
	}
	if _, err := s.Get(t.Context(), model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/26"}); err == nil {
		t.Error("a block among pods")
	}
}

func second[T any](_ T, err error) error { return err }

// The answer must be what was asked for.
func TestAnotherPod(t *testing.T) {
	t.Parallel()
	w, _ := answers(t, said{200, `{"metadata":{"namespace":"shop","name":"db-1","uid":"u","resourceVersion":"1"}}`, ""})
	if o, err := (PodStore{Writer: w}).Get(t.Context(), model.Ref{Kind: model.KindPod, Name: "shop/db-0"}); err == nil {
		t.Errorf("%+v", o)
	}
	calico := model.Ref{Kind: model.KindPod, Name: "kube-system/calico-node-x7k2p"}
	for body, want := range map[string]error{
		`{"metadata":{"uid":"u","labels":{"k8s-app":"shop"}}}`:        execute.ErrRefused,
		`{"metadata":{"uid":"u"}}`:                                    execute.ErrRefused,
		`{"metadata":{"uid":"v","labels":{"k8s-app":"calico-node"}}}`: execute.ErrStale,
		`{"metadata":{"uid":"u","labels":{"k8s-app":"calico-node"}}}`: nil,
	} {
		w, n := answers(t, said{200, body, ""}, said{200, `{}`, ""})
		if err := (PodStore{Writer: w}).RestartPod(t.Context(), calico, "u"); !errors.Is(err, want) || (n.Load() == 2) != (want == nil) {
			t.Errorf("%s: %v after %d requests", body, err, n.Load())
		}
	}
}

func TestMachines(t *testing.T) {
	t.Parallel()
	vm := model.Ref{Kind: model.KindVM, Name: "shop/db-0"}
	for name, c := range map[string]struct {
		answers []said
		there   bool
		bad     bool
	}{
		"no KubeVirt":  {[]said{{200, `{"kind":"APIGroupList","groups":[{"name":"apps"}]}`, ""}}, false, false},
		"no list":      {[]said{{200, `{}`, ""}}, false, true},
		"a machine":    {[]said{{200, `{"kind":"APIGroupList","groups":[{"name":"kubevirt.io"}]}`, ""}, {200, `{"metadata":{"namespace":"shop","name":"db-0","uid":"u","resourceVersion":"1"}}`, ""}}, true, false},
		"an instance":  {[]said{{200, `{"kind":"APIGroupList","groups":[{"name":"kubevirt.io"}]}`, ""}, {404, notFound, ""}, {200, `{"metadata":{"namespace":"shop","name":"db-0","uid":"u","resourceVersion":"1"}}`, ""}}, true, false},
		"neither":      {[]said{{200, `{"kind":"APIGroupList","groups":[{"name":"kubevirt.io"}]}`, ""}, {404, notFound, ""}}, false, false},
		"not to be so": {[]said{{200, `{"kind":"APIGroupList","groups":[{"name":"kubevirt.io"}]}`, ""}, {404, "404 page not found", ""}}, false, true},
	} {
		w, _ := answers(t, c.answers...)
		o, err := PodStore{Writer: w}.Get(t.Context(), vm)
		if (err != nil) != c.bad || o.There() != c.there || err == nil && o.Ref != vm {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

func FuzzPod(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","namespace":"b","uid":"c","resourceVersion":"1","ownerReferences":[{}]},"status":{"podIPs":[{"ip":"::ffff:10.0.0.1"}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := parsePod(b)
		if err == nil && (o.UID == "" || !o.There() || !json.Valid(o.Body)) {
			t.Errorf("%+v", o)
		}
	})
}
