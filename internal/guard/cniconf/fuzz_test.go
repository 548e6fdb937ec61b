package cniconf

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// holds is what is true of any bytes whatsoever.
func holds(t testing.TB, raw []byte) {
	t.Helper()
	kept := bytes.Clone(raw)
	state, why := inspect(raw)
	patched, changed, err := patch(raw, Guard)
	back, unchanged, err2 := unpatch(raw)
	if !bytes.Equal(raw, kept) {
		t.Fatalf("what was given was changed: %q", raw)
	}
	if (why == nil) != (state == Plain || state == Patched) {
		t.Fatalf("%s, %v: %q", state, why, raw)
	}
	switch {
	case err != nil && (patched != nil || changed):
		t.Fatalf("an error and a patch: %v", err)
	case err == nil && changed != (state == Plain):
		t.Fatalf("%s, and changed is %t: %q", state, changed, raw)
	case err == nil && !changed && !bytes.Equal(patched, raw):
		t.Fatalf("not changed, and changed: %q", raw)
	case changed:
		wrapped(t, "", raw, patched)
		roundTrip(t, raw, patched)
	}
	if err2 == nil && unchanged {
		if again, more, err := unpatch(back); err != nil || more || !bytes.Equal(again, back) {
			t.Fatalf("taken out once is not enough: %v, %q", err, back)
		}
	}
	if d, err := parse(raw); err == nil {
		spans(t, d)
	}
}

func roundTrip(t testing.TB, raw, patched []byte) {
	t.Helper()
	if state, err := inspect(patched); state != Patched {
		t.Fatalf("patched is %s, %v: %q", state, err, patched)
	}
	if again, changed, err := patch(patched, Guard); err != nil || changed || !bytes.Equal(again, patched) {
		t.Fatalf("patched twice: %t, %v, %q", changed, err, again)
	}
	if back, changed, err := unpatch(patched); err != nil || !changed || !bytes.Equal(back, raw) {
		t.Fatalf("back: %t, %v\n%q\n%q", changed, err, raw, back)
	}
}

// spans holds our walk against the decoder's.
func spans(t testing.TB, d *document) {
	t.Helper()
	var doc struct {
		Plugins []json.RawMessage `json:"plugins"`
	}
	if err := json.Unmarshal(d.raw, &doc); err != nil || !d.list {
		return
	}
	if len(doc.Plugins) != len(d.entries) {
		t.Fatalf("%d entries, not %d: %q", len(d.entries), len(doc.Plugins), d.raw)
	}
	for i, e := range d.entries {
		if !bytes.Equal(e.of(d.raw), doc.Plugins[i]) {
			t.Fatalf("entry %d is %q, not %q", i, e.of(d.raw), doc.Plugins[i])
		}
	}
}

func FuzzPatch(f *testing.F) {
	for _, raw := range fixtures(f) {
		f.Add(raw)
		patched, _, _ := patch(raw, Guard)
		f.Add(patched)
	}
	f.Fuzz(func(t *testing.T, raw []byte) { holds(t, raw) })
}

// FuzzEntry puts any bytes where a list has its entries, and into Calico's own.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"type":"portmap"}`), []byte(`"mtu": 1.0e3`))
	f.Add([]byte(` {"type":"plumbline-cni","delegate":{"type":"calico"}}`), []byte(`"capabilities":{"a":true}`))
	f.Add([]byte(`{"type":"a\"}"}, null`), []byte("\"\\u0043apabilities\" : [\t]"))
	f.Fuzz(func(t *testing.T, other, own []byte) {
		doc := bytes.Join([][]byte{[]byte(`{"cniVersion":"1.0.0", "plugins" : [ {"type":"calico",`), own, []byte("} ,"), other, []byte(`] ,"name":"n"}`)}, nil)
		holds(t, doc)
	})
}

func FuzzNames(f *testing.F) {
	f.Add([]byte(`{"kind":"cniCacheV1","config":"eyJ0eXBlIjoicGx1bWJsaW5lLWNuaSJ9"}`))
	f.Add([]byte(`{"a":["plumbline\u002dcni"]}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		named, whole := names(raw, 0)
		if !named && bytes.Contains(raw, []byte(Guard)) || whole && !named && !json.Valid(raw) {
			t.Fatalf("%t, %t: %q", named, whole, raw)
		}
		// However it is kept, it is found again.
		kept, err := json.Marshal(map[string]any{"config": raw, "text": 1})
		if again, _ := names(kept, 0); err != nil || named && !again {
			t.Fatalf("%v: not found in %s", err, kept)
		}
	})
}

// A writer of documents as no program writes them.
type scribe struct {
	*rand.Rand
	strings.Builder
}

func (s *scribe) space() {
	for s.IntN(3) == 0 {
		s.WriteByte(" \t\r\n"[s.IntN(4)])
	}
}

func (s *scribe) put(text string) {
	s.space()
	s.WriteString(text)
	s.space()
}

// quote writes a string with some of its letters escaped.
func (s *scribe) quote(text string) {
	out := `"`
	for _, c := range []byte(text) {
		if s.IntN(8) == 0 {
			out += `\u00` + string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15])
		} else {
			out += string(rune(c))
		}
	}
	s.put(out + `"`)
}

func (s *scribe) value(depth int) {
	switch n := s.IntN(8); {
	case n == 0 && depth < 6:
		s.put("[")
		for i := range s.IntN(4) {
			if i > 0 {
				s.put(",")
			}
			s.value(depth + 1)
		}
		s.put("]")
	case n == 1 && depth < 6:
		s.object(depth+1, nil)
	default:
		s.put([]string{"null", "true", "-0.0", "1e400", "18446744073709551616", `"\"},{\\"`, "\"\xff\"", `"plumbline-cni"`, `"calico"`}[s.IntN(9)])
	}
}

// object writes these fields, and strangers between them, in any order.
func (s *scribe) object(depth int, fields map[string]func()) {
	var all []func()
	for key, value := range fields {
		all = append(all, func() { s.quote(key); s.put(":"); value() })
	}
	for i := range s.IntN(4) {
		all = append(all, func() { s.quote("x" + string(rune('a'+i))); s.put(":"); s.value(depth + 1) })
	}
	s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	s.put("{")
	for i, write := range all {
		if i > 0 {
			s.put(",")
		}
		write()
	}
	s.put("}")
}

func (s *scribe) entry(kind string, more map[string]func()) {
	if more == nil {
		more = map[string]func(){}
	}
	more["type"] = func() { s.quote(kind) }
	if s.IntN(2) == 0 {
		more["capabilities"] = func() { s.object(3, nil) }
	}
	s.object(2, more)
}

func (s *scribe) document() {
	common := map[string]func(){
		"name":       func() { s.quote("k8s-pod-network") },
		"cniVersion": func() { s.quote(versions[s.IntN(len(versions))]) },
	}
	if s.IntN(4) == 0 {
		s.entry(calico, common)
		return
	}
	common["plugins"] = func() {
		s.put("[")
		n := 1 + s.IntN(4)
		own := s.IntN(n)
		for i := range n {
			if i > 0 {
				s.put(",")
			}
			kind := "portmap"
			if i == own {
				kind = calico
			}
			s.entry(kind, nil)
		}
		s.put("]")
	}
	s.object(1, common)
}

func TestWhatIsNotOursComesOutAsItWentIn(t *testing.T) {
	t.Parallel()
	const documents = 500
	changed := 0
	for seed := range uint64(documents) {
		s := &scribe{Rand: rand.New(rand.NewPCG(seed, 7))}
		s.document()
		raw := []byte(s.String())
		holds(t, raw)
		if _, did, err := patch(raw, Guard); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, raw)
		} else if did {
			changed++
		}
		for range 4 { // and broken, in any way
			i := s.IntN(len(raw))
			holds(t, raw[:i])
			holds(t, append(bytes.Clone(raw[:i]), raw[min(len(raw), i+1+s.IntN(3)):]...))
		}
	}
	if changed != documents {
		t.Errorf("%d of %d documents were patched", changed, documents)
	}
}
