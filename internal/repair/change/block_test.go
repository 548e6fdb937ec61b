package change

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

const (
	h1 = "k8s-pod-network.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	h2 = "k8s-pod-network.bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// blockOf is a block of four addresses: .0 and .2 held by h1, .1 by h2, .3 free, with a
// field that we do not know and a number of a free ordinal that a DEL left.
func blockOf(t *testing.T, change func(map[string]any)) model.Object {
	t.Helper()
	body := map[string]any{}
	text := `{"cidr":"10.0.0.0/30","affinity":"host:n1","allocations":[0,1,0,null],"unallocated":[3],
	 "attributes":[{"handle_id":"` + h1 + `","secondary":{"node":"n1","pod":"a","namespace":"x","timestamp":"then"}},{"handle_id":"` + h2 + `","secondary":{"node":"n1","pod":"b","namespace":"x"},"later":{"n":9007199254740993}}],
	 "sequenceNumberForAllocation":{"0":1794736714403100459,"1":7,"2":8,"3":5},"deleted":false,"future":[1]}`
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(body)
	}
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	// Past 2^53: what a float would spoil.
	s := strings.Replace(string(b), `"cidr"`, `"sequenceNumber":1794736714403100461,"cidr"`, 1)
	s = strings.Replace(s, `1794736714403100400`, `1794736714403100459`, 1)
	s = strings.Replace(s, `9007199254740992`, `9007199254740993`, 1)
	return model.Object{Ref: model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/30"}, UID: "u", Revision: "5", Body: json.RawMessage(s)}
}

func always(string) bool { return true }

func rowOf(t *testing.T, o model.Object, n int) *Held {
	t.Helper()
	b, err := readBlock(o)
	if err != nil {
		t.Fatal(err)
	}
	return &Held{Attribute: b.holder(n).Row(), Sequence: b.sequenceOf(n)}
}

// A step is what a change sees of a step.
type step struct {
	On     model.Ref
	For    []string
	Always bool
	Change
}

func (s *step) Reads(live model.Object) ([]model.Ref, error) {
	return s.Change.(Editor).Reads(s.On, live)
}

func (s *step) Edit(sc Scene) (Edited, error) {
	sc.On, sc.For, sc.Always = s.On, s.For, s.Always
	return s.Change.(Editor).Edit(sc)
}

func ordinalsStep(os ...Ordinal) *step {
	s := &step{On: model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/30"}, Change: Ordinals(os)}
	for _, o := range os {
		s.For = appendNew(s.For, o.For)
	}
	return s
}

func addr(s string) netip.Addr { return netip.MustParseAddr(s) }

func TestReleaseFreesAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	live := blockOf(t, nil)
	s := ordinalsStep(
		Ordinal{For: "f", IP: addr("10.0.0.0"), From: rowOf(t, live, 0)},
		Ordinal{For: "f", IP: addr("10.0.0.2"), From: rowOf(t, live, 2)},
	)
	e, err := s.Edit(Scene{Live: live, Keep: always})
	if err != nil || e.Delete || !slices.Equal(e.For, []string{"f"}) {
		t.Fatalf("%v, %+v", err, e)
	}
	b, err := readBlock(e.Object)
	if err != nil {
		t.Fatal(err)
	}
	if !b.free(0) || !b.free(2) || b.free(1) || !slices.Equal(b.Unallocated.V, []int32{3, 0, 2}) {
		t.Errorf("free are %v", b.Unallocated.V)
	}
	if b.Sequence.V != 1794736714403100462 || len(b.Sequences.V) != 1 || b.Sequences.V["1"] != 7 {
		t.Errorf("numbers %d, %v", b.Sequence.V, b.Sequences.V)
	}
	if len(b.Attributes.V) != 1 || b.holder(1).Handle.V != h2 {
		t.Errorf("attributes %+v", b.Attributes.V)
	}
	if out := string(e.Object.Body); !strings.Contains(out, `"future":[1]`) || !strings.Contains(out, `9007199254740993`) {
		t.Errorf("what we do not know is lost: %s", out)
	}
	if e.Object.Revision != "5" || e.Object.UID != "u" {
		t.Errorf("written at %s, %s", e.Object.UID, e.Object.Revision)
	}
}

func TestReleaseOfTheLastRemovesABlockWithoutAffinity(t *testing.T) {
	t.Parallel()
	for affinity, gone := range map[string]bool{"host:n1": false, "": true} {
		live := blockOf(t, func(b map[string]any) {
			b["allocations"], b["unallocated"] = []any{0, nil, nil, nil}, []any{1, 2, 3}
			if affinity == "" {
				b["affinity"] = nil
			}
		})
		e, err := ordinalsStep(Ordinal{For: "f", IP: addr("10.0.0.0"), From: rowOf(t, live, 0)}).Edit(Scene{Live: live, Keep: always})
		if err != nil || e.Delete != gone {
			t.Errorf("affinity %q: %v, removed %v", affinity, err, e.Delete)
		}
	}
}

// TestChangedAddressesAreNotWritten: every way in which an address can be another's now.
func TestChangedAddressesAreNotWritten(t *testing.T) {
	t.Parallel()
	first := blockOf(t, nil)
	from := rowOf(t, first, 0)
	for name, change := range map[string]func(map[string]any){
		"freed":                      func(b map[string]any) { b["allocations"], b["unallocated"] = []any{nil, 1, 0, nil}, []any{3, 0} },
		"another's":                  func(b map[string]any) { b["allocations"] = []any{1, 1, 0, nil} },
		"given anew":                 func(b map[string]any) { b["sequenceNumberForAllocation"] = map[string]any{"0": 9} },
		"of another pod":             func(b map[string]any) { secondary(b)["pod"] = "c" },
		"of another node":            func(b map[string]any) { secondary(b)["node"] = "n2" },
		"given at another time":      func(b map[string]any) { secondary(b)["timestamp"] = "now" },
		"no owner that can be read":  func(b map[string]any) { b["allocations"] = []any{7, 1, 0, nil} },
		"neither held nor free":      func(b map[string]any) { b["allocations"], b["unallocated"] = []any{nil, 1, 0, nil}, []any{3} },
		"block on its way out":       func(b map[string]any) { b["deleted"] = true },
		"block of fewer addresses":   func(b map[string]any) { b["allocations"] = []any{} },
		"attribute with a new field": func(b map[string]any) { attribute(b)["alternateOwnerAttrs"] = map[string]any{"pod": "d"} },
	} {
		live := blockOf(t, change)
		s := ordinalsStep(Ordinal{For: "f", IP: addr("10.0.0.0"), From: from}, Ordinal{For: "g", IP: addr("10.0.0.3"), From: nil, To: &Owner{Handle: h1}})
		e, err := s.Edit(Scene{Live: live, Keep: func(f string) bool { return f == "f" }})
		if name == "freed" {
			if !errors.Is(err, ErrAlready) {
				t.Errorf("freed: %v, %+v", err, e)
			}
			continue
		}
		if !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v, %+v", name, err, e)
		}
	}
}

func attribute(b map[string]any) map[string]any { return b["attributes"].([]any)[0].(map[string]any) }

func secondary(b map[string]any) map[string]any {
	return attribute(b)["secondary"].(map[string]any)
}

// TestHandleIsReleasedAsAWhole: if one address of a finding changed, the others are not released.
func TestHandleIsReleasedAsAWhole(t *testing.T) {
	t.Parallel()
	live := blockOf(t, nil)
	stale := *rowOf(t, live, 2)
	stale.Sequence = 99
	s := ordinalsStep(
		Ordinal{For: "f", IP: addr("10.0.0.0"), From: rowOf(t, live, 0)},
		Ordinal{For: "f", IP: addr("10.0.0.2"), From: &stale},
		Ordinal{For: "g", IP: addr("10.0.0.1"), From: rowOf(t, live, 1)},
	)
	e, err := s.Edit(Scene{Live: live, Keep: always})
	if err != nil || !slices.Equal(e.For, []string{"g"}) || e.Dropped["f"] == "" {
		t.Fatalf("%v, for %v, dropped %v", err, e.For, e.Dropped)
	}
	b, err := readBlock(e.Object)
	if err != nil || b.free(0) || b.free(2) || !b.free(1) {
		t.Errorf("%v: %s", err, e.Object.Body)
	}
}

func TestRecordTakesItOffTheListAndNumbersIt(t *testing.T) {
	t.Parallel()
	live := blockOf(t, nil)
	to := &Owner{Handle: "k8s-pod-network.cc", Secondary: map[string]string{"node": "n1", "pod": "c", "namespace": "x"}}
	e, err := ordinalsStep(Ordinal{For: "f", IP: addr("10.0.0.3"), To: to}).Edit(Scene{Live: live, Also: counting(to.Handle), Keep: always})
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBlock(e.Object)
	if err != nil || len(b.Unallocated.V) != 0 || b.holder(3).Handle.V != "k8s-pod-network.cc" {
		t.Fatalf("%v: %s", err, e.Object.Body)
	}
	if b.sequenceOf(3) != 1794736714403100461 || b.Sequence.V != 1794736714403100462 {
		t.Errorf("numbered %d of %d: Calico numbers with the block's before the write", b.sequenceOf(3), b.Sequence.V)
	}
	again, err := ordinalsStep(Ordinal{For: "f", IP: addr("10.0.0.3"), To: to}).Edit(Scene{Live: e.Object, Also: counting(to.Handle), Keep: always})
	if !errors.Is(err, ErrAlready) {
		t.Errorf("again: %v, %+v", err, again)
	}
}

// TestOwnersAreCopiedNeverChanged: two addresses share an attribute; to name one's owner
// right must leave the other's.
func TestOwnersAreCopiedNeverChanged(t *testing.T) {
	t.Parallel()
	live := blockOf(t, nil)
	to := &Owner{Handle: h1, Secondary: map[string]string{"node": "n9", "pod": "a", "namespace": "x"}}
	e, err := ordinalsStep(Ordinal{For: "f", IP: addr("10.0.0.0"), From: rowOf(t, live, 0), To: to}).Edit(Scene{Live: live, Also: counting(to.Handle), Keep: always})
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBlock(e.Object)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.holder(0).Secondary.V; got["node"] != "n9" || got["timestamp"] != "then" {
		t.Errorf("owner %v", got)
	}
	if got := b.holder(2).Secondary.V["node"]; got != "n1" {
		t.Errorf("the other's node is %s", got)
	}
	if b.sequenceOf(0) != 1794736714403100461 {
		t.Errorf("a new owner has the old number %d: the collector would not see it", b.sequenceOf(0))
	}
}

// counting is a handle that counts enough in the block of these tests.
func counting(handle string) map[model.Ref]model.Object {
	ref := model.Ref{Kind: model.KindHandle, Name: handle}
	return map[model.Ref]model.Object{ref: {Ref: ref, UID: "u", Revision: "1", Body: json.RawMessage(`{"block":{"10.0.0.0/30":4}}`)}}
}

// A handle counts an address before a block allocates it.
func TestNothingIsGivenUncounted(t *testing.T) {
	t.Parallel()
	live := blockOf(t, nil)
	to := &Owner{Handle: "k8s-pod-network.cc", Secondary: map[string]string{"node": "n1", "pod": "c", "namespace": "x"}}
	for name, also := range map[string]map[model.Ref]model.Object{"no handle": nil, "of another": counting("k8s-pod-network.dd")} {
		if _, err := ordinalsStep(Ordinal{For: "f", IP: addr("10.0.0.3"), To: to}).Edit(Scene{Live: live, Also: also, Keep: always}); !errors.Is(err, ErrMoved) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMendFreesNothing(t *testing.T) {
	t.Parallel()
	live := blockOf(t, func(b map[string]any) {
		b["allocations"] = []any{0, 7, -1, nil}
		b["unallocated"] = []any{3, 3, 1, 9, -2}
		b["sequenceNumberForAllocation"] = map[string]any{"0": 1.9e18}
	})
	s := &step{On: live.Ref, For: []string{"f"}, Change: &Mend{Owners: []Ordinal{{IP: addr("10.0.0.1"), To: &Owner{Handle: h2}}}}}
	e, err := s.Edit(Scene{Live: live, Also: counting(h2), Keep: always})
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBlock(e.Object)
	if err != nil || !b.sound() || !slices.Equal(b.Unallocated.V, []int32{3}) {
		t.Fatalf("%v: %s", err, e.Object.Body)
	}
	if b.holder(1).Handle.V != h2 || b.holder(2).Handle.V != UnknownHandle(b.cidr) || b.sequenceOf(0) > b.Sequence.V {
		t.Errorf("owners %s, %s, number %d of %d", b.holder(1).Handle.V, b.holder(2).Handle.V, b.sequenceOf(0), b.Sequence.V)
	}
	if _, err := s.Edit(Scene{Live: e.Object, Also: counting(h2), Keep: always}); !errors.Is(err, ErrAlready) {
		t.Errorf("again: %v", err)
	}
}

func TestHandleIsCountedAbsolutely(t *testing.T) {
	t.Parallel()
	block := blockOf(t, nil)
	cidr := netip.MustParsePrefix("10.0.0.0/30")
	handle := func(count string, more ...string) model.Object {
		o := model.Object{Ref: model.Ref{Kind: model.KindHandle, Name: h1}}
		if count != "" {
			o.Revision, o.UID = "9", "u"
			o.Body = json.RawMessage(`{"handleID":"` + h1 + `","block":{"10.0.0.0/30":` + count + strings.Join(more, "") + `},"deleted":false,"x":1}`)
		}
		return o
	}
	for name, c := range map[string]struct {
		live  model.Object
		count Count
		all   bool
		want  string // of the block; empty: removed; else already or moved
		err   error
	}{
		"too many, unchanged":      {live: handle("5"), count: Count{Unchanged: "9"}, want: "2"},
		"too many, written since":  {live: handle("5"), count: Count{Unchanged: "8"}, err: ErrMoved},
		"too many, of no revision": {live: handle("5"), err: ErrAlready},
		"after a release of ours":  {live: handle("5"), all: true, want: "2"},
		"too few":                  {live: handle("1"), want: "2"},
		"right":                    {live: handle("2"), err: ErrAlready},
		"missing":                  {live: handle(""), count: Count{Blocks: []netip.Prefix{cidr}}, want: "2"},
		"raised":                   {live: handle("2"), count: Count{Raise: []Raise{{cidr, []netip.Addr{addr("10.0.0.3")}}}}, want: "3"},
		"raised for what it has":   {live: handle("2"), count: Count{Raise: []Raise{{cidr, []netip.Addr{addr("10.0.0.2")}}}}, err: ErrAlready},
	} {
		c.count.Handle = h1
		s := &step{On: c.live.Ref, For: []string{"f"}, Always: c.all, Change: &c.count}
		refs, err := s.Reads(c.live)
		if err != nil || len(refs) != 1 {
			t.Errorf("%s: reads %v, %v", name, refs, err)
			continue
		}
		e, err := s.Edit(Scene{Live: c.live, Keep: always, Also: map[model.Ref]model.Object{refs[0]: block}})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		}
		if c.err != nil || err != nil {
			continue
		}
		var h object.Handle
		if h, err = readHandle(e.Object); c.live.Revision == "" {
			e.Object.Revision = "1"
			h, err = readHandle(e.Object)
		}
		if err != nil || h.Block.V["10.0.0.0/30"] != int(c.want[0]-'0') || h.ID.V != h1 {
			t.Errorf("%s: %v, %s", name, err, e.Object.Body)
		}
	}
}

func TestHandleOfNothingIsRemoved(t *testing.T) {
	t.Parallel()
	live := model.Object{Ref: model.Ref{Kind: model.KindHandle, Name: h1}, Revision: "9", UID: "u", Body: json.RawMessage(`{"handleID":"` + h1 + `","block":{"10.9.0.0/30":1}}`)}
	s := &step{On: live.Ref, For: []string{"f"}, Change: &Count{Handle: h1, Unchanged: "9"}}
	e, err := s.Edit(Scene{Live: live, Keep: always, Also: map[model.Ref]model.Object{}})
	if err != nil || !e.Delete || e.Object.Revision != "9" {
		t.Errorf("%v, %+v", err, e)
	}
}
