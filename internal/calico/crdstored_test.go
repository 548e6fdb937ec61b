package calico

import (
	"encoding/json"
	"reflect"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

const asServed = `{"apiVersion":"crd.projectcalico.org/v1","kind":"IPAMHandle","later":{"n":9007199254740993},
"metadata":{"name":"h","uid":"u","resourceVersion":"7","creationTimestamp":"2026-01-01T00:00:00Z","generation":3,"labels":{"a":"b"},
"annotations":{"x":"1"},"ownerReferences":[{"uid":"o","later":9007199254740993}],"managedFields":[{"manager":"m"}]},
"spec":{"handleID":"h","block":{}}}`

// TestAllElseStays: what is written is what was read, but for the spec and the labels.
func TestAllElseStays(t *testing.T) {
	t.Parallel()
	s, err := parseStored([]byte(asServed))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := generic(t, []byte(asServed)).(map[string]any)
	meta, _ := want["metadata"].(map[string]any)
	delete(meta, "managedFields")
	for _, labels := range []map[string]string{{"c": "d"}, nil} {
		b, err := s.with(json.RawMessage(`{"handleID":"h","block":{"10.0.0.0/26":1800000000000000001},"later":1}`), labels)
		if err != nil {
			t.Fatal(err)
		}
		delete(meta, "labels")
		if labels != nil {
			meta["labels"] = map[string]any{"c": "d"}
		}
		want["spec"] = generic(t, []byte(`{"handleID":"h","block":{"10.0.0.0/26":1800000000000000001},"later":1}`))
		if got := generic(t, b); !reflect.DeepEqual(got, any(want)) {
			t.Errorf("got  %s\nwant %v", b, want)
		}
	}
	o := s.object(model.Ref{Kind: model.KindHandle, Name: "H"})
	if o.UID != "u" || o.Revision != "7" || o.Labels["a"] != "b" || string(o.Body) != `{"handleID":"h","block":{}}` {
		t.Errorf("%+v", o)
	}
}

func TestItself(t *testing.T) {
	t.Parallel()
	s, err := parseStored([]byte(asServed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		uid, rev string
		want     bool
	}{{"u", "7", true}, {"u", "8", false}, {"v", "7", false}, {"", "7", false}, {"u", "", false}} {
		if got := s.is(&model.Object{UID: c.uid, Revision: c.rev}); got != c.want {
			t.Errorf("%q at %q: %v", c.uid, c.rev, got)
		}
	}
	if (&stored{}).is(&model.Object{}) {
		t.Error("what is not there is nothing's earlier self")
	}
}

// FuzzStored: whatever a server answers, what is written again differs in nothing.
func FuzzStored(f *testing.F) {
	f.Add([]byte(asServed))
	f.Add([]byte(`{"metadata":null}`))
	f.Add([]byte(`{"metadata":{"name":"a","uid":"b","resourceVersion":"c","labels":null},"spec":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseStored(b)
		if err != nil {
			return
		}
		o := s.object(model.Ref{Kind: model.KindBlock, Name: "x"})
		if !s.is(&o) {
			t.Fatalf("%+v is not itself", o)
		}
		out, err := s.with(o.Body, o.Labels)
		if err != nil {
			return
		}
		again, err := parseStored(out)
		if err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if p := again.object(o.Ref); p.UID != o.UID || p.Revision != o.Revision || len(p.Labels) != len(o.Labels) {
			t.Errorf("%+v became %+v", o, p)
		}
	})
}
