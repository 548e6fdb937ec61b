package kube

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"plumbline.dev/plumbline/internal/model"
)

var yes = true

func at(sec int64) metav1.Time { return metav1.Time{Time: time.Unix(sec, 0)} }

// realPods are encoded by Kubernetes' own library: our numbers of fields must be its.
func realPods() []corev1.Pod {
	deleted, started := at(3000), at(1200)
	return []corev1.Pod{
		{
			ObjectMeta: metav1.ObjectMeta{
				Name: "db-0", Namespace: "shop", UID: "u1", ResourceVersion: "77", CreationTimestamp: at(1000), DeletionTimestamp: &deleted,
				Labels:      map[string]string{"app": "db", vmLabel: "machine"},
				Annotations: map[string]string{AnnotationPodIP: "10.0.0.1/32", AnnotationPodIPs: "10.0.0.1/32,fd00::1/128", AnnotationContainerID: "abc", noIPAM: "[]", AnnotationMirror: "hash", "other": "y"},
				Finalizers:  []string{"example.com/hold", "foregroundDeletion"},
				OwnerReferences: []metav1.OwnerReference{
					{Kind: "Other", Name: "no"}, {Kind: "StatefulSet", Name: "db", UID: "o", Controller: &yes},
				},
				ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "a", Time: &metav1.Time{Time: time.Unix(1500, 0)}, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`)}, {Manager: "b", Time: &metav1.Time{Time: time.Unix(2500, 0)}}},
			},
			Spec: corev1.PodSpec{
				NodeName: "w1", HostNetwork: true, Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Name: "SECRET", Value: "s"}}}, {Name: "d", Image: "j"}, {Name: "e", Image: "i"}},
				InitContainers: []corev1.Container{{Name: "first", Image: "not kept"}},
				Volumes:        realVolumes(),
			},
			Status: corev1.PodStatus{
				Phase: corev1.PodRunning, PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}, {IP: "fd00::1"}}, HostIP: "192.168.0.1", StartTime: &started,
				Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: "True"}, {Type: corev1.PodReady, Status: "True"}},
			},
		},
		{ObjectMeta: metav1.ObjectMeta{Name: "torn", Namespace: "shop", Annotations: map[string]string{AnnotationPodIP: "", AnnotationPodIPs: ""}}, Status: corev1.PodStatus{Phase: corev1.PodFailed, PodIP: "10.0.0.9"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "odd", Namespace: "shop", Annotations: map[string]string{AnnotationPodIP: "\x1b[31mno address"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "bare", Namespace: "shop"}},
	}
}

func encodeList(t *testing.T, pods []corev1.Pod) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "99", Continue: "next"}, Items: pods}
	list.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "PodList"})
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(list, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPodsOfTheRealLibrary(t *testing.T) {
	t.Parallel()
	for _, keep := range []*podArena{nil, {}} {
		picked(t, podPicker{intern: model.Interner{}, keep: keep})
	}
}

func picked(t *testing.T, k podPicker) {
	t.Helper()
	var got []model.Pod
	meta, err := eachProto(bytes.NewReader(encodeList(t, realPods())), func(item []byte) error {
		p, err := k.pick(item)
		got = append(got, p)
		return err
	})
	if err != nil || meta.ResourceVersion != "99" || meta.Continue != "next" {
		t.Fatalf("%+v, %v", meta, err)
	}
	a4, a6 := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")
	want := []model.Pod{
		{
			Namespace: "shop", Name: "db-0", UID: "u1", Node: "w1", Phase: model.Running, HostNetwork: true, Ready: true, NoIPAM: true, Created: 1000, Deleted: 3000, Written: 2500,
			IPs: []netip.Addr{a4, a6}, Annotation: model.Written, Annotated: []netip.Addr{a4, a6}, ContainerID: "abc", Owner: "StatefulSet/db", VM: "machine", Static: "hash",
			Finalizers: []string{"example.com/hold", "foregroundDeletion"}, Images: []string{"i", "j"}, Volumes: wantVolumes, Started: 1200, Revision: "77",
		},
		{Namespace: "shop", Name: "torn", Phase: model.Failed, Annotation: model.Emptied, IPs: []netip.Addr{netip.MustParseAddr("10.0.0.9")}},
		{Namespace: "shop", Name: "odd", Annotation: model.Garbled},
		{Namespace: "shop", Name: "bare"},
	}
	for i := range want {
		if got[i].Created < 0 { // the zero time of Kubernetes is long before 1970
			got[i].Created = 0
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("\ngot  %+v\nwant %+v", got[i], want[i])
		}
	}
}

// A list that was cut off anywhere is no list.
func TestTruncatedListsAreRefused(t *testing.T) {
	t.Parallel()
	whole := encodeList(t, realPods())
	k := podPicker{intern: model.Interner{}}
	for n := range len(whole) {
		_, err := eachProto(bytes.NewReader(whole[:n]), func(item []byte) error { _, err := k.pick(item); return err })
		// The envelope ends with two empty fields, which say nothing.
		if err == nil && n < len(whole)-4 {
			t.Fatalf("%d of %d bytes pass for a whole list", n, len(whole))
		}
	}
	list, err := json.Marshal(corev1.PodList{Items: realPods()})
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(list) {
		if _, err := eachItem(bytes.NewReader(list[:n]), func([]byte) error { return nil }); err == nil {
			t.Fatalf("%d of %d bytes of JSON pass for a whole list", n, len(list))
		}
	}
}

func TestEachItem(t *testing.T) {
	t.Parallel()
	var got []string
	meta, err := eachItem(bytes.NewReader([]byte(`{"kind":"L","metadata":{"resourceVersion":"5","continue":"c"},"items":[ {"a":"}]\"{"},{"b":[1,{}]} , 7,"x"],"n":null}`)),
		func(item []byte) error { got = append(got, string(item)); return nil })
	want := []string{`{"a":"}]\"{"}`, `{"b":[1,{}]}`, `7`, `"x"`}
	if err != nil || !slices.Equal(got, want) || meta.ResourceVersion != "5" || meta.Continue != "c" {
		t.Errorf("got %q, %+v, %v", got, meta, err)
	}
	if _, err := eachItem(bytes.NewReader([]byte(`{"items":null}`)), nil); err != nil {
		t.Errorf("no items: %v", err)
	}
	deep := append([]byte(`{"items":[`), bytes.Repeat([]byte("["), 1000)...)
	if _, err := eachItem(bytes.NewReader(deep), nil); err != ErrTooBig { //nolint:errorlint // the very one
		t.Errorf("deep: %v", err)
	}
	big := append([]byte(`{"items":["`), bytes.Repeat([]byte("x"), maxObject+1)...)
	if _, err := eachItem(bytes.NewReader(big), nil); err != ErrTooBig { //nolint:errorlint // the very one
		t.Errorf("big: %v", err)
	}
}

func FuzzProtoList(f *testing.F) {
	f.Add([]byte("k8s\x00"))
	t := &testing.T{}
	f.Add(encodeList(t, realPods()))
	f.Fuzz(func(_ *testing.T, b []byte) {
		k := podPicker{intern: model.Interner{}}
		_, _ = eachProto(bytes.NewReader(b), func(item []byte) error { _, err := k.pick(item); return err })
	})
}

// What we cut out of a list, put together again, is the list.
func FuzzJSONList(f *testing.F) {
	f.Add([]byte(`[{"a":1},"b",[1,2,{"c":"\""}],null,true,1e9]`))
	f.Fuzz(func(t *testing.T, items []byte) {
		_, _ = eachItem(bytes.NewReader(items), func([]byte) error { return nil })
		var want []json.RawMessage
		if json.Unmarshal(items, &want) != nil || len(items) > 1<<16 {
			return
		}
		var got []json.RawMessage
		_, err := eachItem(bytes.NewReader(slices.Concat([]byte(`{"items":`), items, []byte(`}`))), func(item []byte) error {
			got = append(got, slices.Clone(item))
			return nil
		})
		if err == ErrTooBig { //nolint:errorlint // the very one
			return
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if err != nil || (len(want) > 0 && !bytes.Equal(a, b)) {
			t.Errorf("%s: got %s, %v", items, a, err)
		}
	})
}
