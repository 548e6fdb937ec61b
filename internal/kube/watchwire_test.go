package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// frame is an event as Kubernetes' own library writes it.
func frame(t testing.TB, kind string, o runtime.Object) []byte {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	gvk, _, err := scheme.ObjectKinds(o)
	if err != nil {
		t.Fatal(err)
	}
	o.GetObjectKind().SetGroupVersionKind(gvk[0])
	var object, out bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(o, &object); err != nil {
		t.Fatal(err)
	}
	w := protobuf.LengthDelimitedFramer.NewFrameWriter(&out)
	if err := protobuf.NewRawSerializer(scheme, scheme).Encode(&metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: object.Bytes()}}, w); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func eventLine(t testing.TB, kind string, o any) []byte {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	b, err = json.Marshal(metav1.WatchEvent{Type: kind, Object: runtime.RawExtension{Raw: b}})
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

func bookmark(revision string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: revision}}
}

func failed(code, after int32) *metav1.Status {
	return &metav1.Status{Status: "Failure", Code: code, Message: "because", Details: &metav1.StatusDetails{Name: "n", RetryAfterSeconds: after}}
}

// What Kubernetes' own library writes is read, in both formats, and nothing that was cut.
func TestEventsOfTheRealLibrary(t *testing.T) {
	t.Parallel()
	pods := realPods()
	pods[0].Annotations["long"] = strings.Repeat("x", 3*watchBuffer)
	var want []model.Pod
	k := podPicker{intern: model.Interner{}}
	if _, err := eachProto(bytes.NewReader(encodeList(t, pods)), func(item []byte) error {
		p, err := k.pick(item)
		want = append(want, p)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]wire{"protobuf": protoWire, "JSON": jsonWire} {
		var all []byte
		var ends []int
		add := func(kind string, o runtime.Object) {
			if name == "JSON" {
				all = append(all, eventLine(t, kind, o)...)
			} else {
				all = append(all, frame(t, kind, o)...)
			}
			ends = append(ends, len(all))
		}
		for i := range pods {
			add([]string{"ADDED", "MODIFIED", "DELETED"}[i%3], &pods[i])
		}
		add("BOOKMARK", bookmark("4711"))
		add("ERROR", failed(429, 7))
		next := w.frames(bytes.NewReader(all))
		for i := range ends {
			f, err := next()
			if err != nil {
				t.Fatal(name, err)
			}
			e, err := w.event(f)
			if err != nil {
				t.Fatal(name, err)
			}
			switch {
			case i < len(pods):
				if e.kind != []string{"ADDED", "MODIFIED", "DELETED"}[i%3] {
					t.Errorf("%s: %d: %s", name, i, e.kind)
				}
				if name == "JSON" {
					var p corev1.Pod
					if err := json.Unmarshal(e.object, &p); err != nil || p.Name != pods[i].Name {
						t.Errorf("%s: %s, %v", name, e.object, err)
					}
				} else if p, err := k.pick(e.object); err != nil || !reflect.DeepEqual(p, want[i]) {
					t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, p, want[i])
				}
			case e.kind == "BOOKMARK":
				if rev, err := w.revision(e.object); rev != "4711" || err != nil {
					t.Errorf("%s: bookmark %q, %v", name, rev, err)
				}
			default:
				if f := w.failure(e.object); f.code != 429 || f.after != 7*time.Second || f.why.Error() != "429: because" {
					t.Errorf("%s: %+v", name, f)
				}
			}
		}
		if _, err := next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the end: %v", name, err)
		}
		for n := range len(all) {
			if n > 300 && (n < len(all)-1200 || n%7 != 0) {
				continue // the long one
			}
			next := w.frames(bytes.NewReader(all[:n]))
			whole := 0
			for {
				if _, err := next(); err != nil {
					break
				}
				whole++
			}
			if want := len(ends) - len(after(ends, n)); whole != want {
				t.Fatalf("%s: %d frames in %d bytes, want %d", name, whole, n, want)
			}
		}
	}
}

// after gives the ends beyond n.
func after(ends []int, n int) []int {
	for i, e := range ends {
		if e > n {
			return ends[i:]
		}
	}
	return nil
}

// A length is only a promise, and a line without an end is none.
func TestFramesAreBounded(t *testing.T) {
	t.Parallel()
	if _, err := lengthFrames(strings.NewReader("\x00\xa0\x00\x01x"))(); !errors.Is(err, ErrTooBig) {
		t.Errorf("10 MB and one byte: %v", err)
	}
	if _, err := lengthFrames(strings.NewReader("\x00\x10\x00\x00short"))(); !errors.Is(err, errTruncated) {
		t.Errorf("less than promised: %v", err)
	}
	if _, err := lineFrames(endless{})(); !errors.Is(err, ErrTooBig) {
		t.Errorf("a line without an end: %v", err)
	}
	most := 0
	if _, err := fill(asked{&most}, nil, maxObject); !errors.Is(err, errTruncated) || most > watchBuffer {
		t.Errorf("%d bytes were taken for a promise: %v", most, err)
	}
}

// asked notes how much is asked for, and has nothing.
type asked struct{ most *int }

func (a asked) Read(p []byte) (int, error) {
	*a.most = max(*a.most, len(p))
	return 0, io.EOF
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzWatchProto(f *testing.F) {
	pods := realPods()
	f.Add(append(frame(f, "ADDED", &pods[0]), frame(f, "DELETED", &pods[1])...))
	f.Add(append(frame(f, "BOOKMARK", bookmark("7")), frame(f, "ERROR", failed(410, 0))...))
	f.Fuzz(func(t *testing.T, b []byte) { heardOf(t, protoWire, b, hearPods) })
}

func FuzzWatchJSON(f *testing.F) {
	f.Add(append(eventLine(f, "ADDED", corev1.Node{}), eventLine(f, "ERROR", failed(410, 0))...))
	f.Add([]byte(`{"object":{"metadata":{"name":"n"}},"type":"DELETED"}` + "\n" + `{"type":"ADDED","object":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		heardOf(t, jsonWire, b, func(g *observe.Gatherer) observe.Heard {
			return hear(g, ParseNode, (*model.Node).Ref, func(n *model.Node) string { return n.Revision })
		})
	})
}

// heardOf reads hostile bytes as a watch: it ends, and what is told is what was read.
func heardOf(t *testing.T, wire wire, b []byte, each func(*observe.Gatherer) observe.Heard) {
	told, heard := 0, 0
	g := observe.Gather(func(c []observe.Change) { told += len(c) })
	h := each(g)
	w := watch{wire: wire, each: func(object []byte, gone bool) (string, error) {
		rev, err := h(object, gone)
		if err == nil {
			heard++
		}
		return rev, err
	}}
	next := wire.frames(bytes.NewReader(b))
	for {
		f, err := next()
		if err != nil || w.hear(f) != nil {
			break
		}
	}
	g.Flush()
	if told != heard {
		t.Errorf("%d heard, %d told", heard, told)
	}
}

func BenchmarkWatchPods(b *testing.B) {
	pod := realPods()[0]
	pod.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(strings.Repeat(`{"f:x":{}}`, 200)) // 3 kB, as real ones
	benchmark(b, protoWire, frame(b, "MODIFIED", &pod), hearPods)
}

func BenchmarkWatchNodes(b *testing.B) {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "7"}}
	for range 30 {
		node.Status.Images = append(node.Status.Images, corev1.ContainerImage{Names: []string{strings.Repeat("registry.example.com/an/image@sha256:0123456789abcdef", 2)}})
	}
	benchmark(b, jsonWire, eventLine(b, "MODIFIED", node), func(g *observe.Gatherer) observe.Heard {
		return hear(g, ParseNode, (*model.Node).Ref, func(n *model.Node) string { return n.Revision })
	})
}

func benchmark(b *testing.B, wire wire, frame []byte, each func(*observe.Gatherer) observe.Heard) {
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	g := observe.Gather(func([]observe.Change) {})
	w := watch{wire: wire, each: each(g)}
	next := wire.frames(repeated{bytes.NewReader(frame)})
	for b.Loop() {
		f, err := next()
		if err != nil {
			b.Fatal(err)
		}
		if err := w.hear(f); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

type repeated struct{ *bytes.Reader }

func (r repeated) Read(p []byte) (int, error) {
	if r.Len() == 0 {
		_, _ = r.Seek(0, io.SeekStart)
	}
	return r.Reader.Read(p)
}
