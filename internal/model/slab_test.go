package model

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
)

// What was given out stays as it is, whatever comes after it.
func TestKeptStaysAsItWas(t *testing.T) {
	t.Parallel()
	var text Text
	var slab Slab[int]
	var g Gather[int]
	var texts []string
	var lists [][]int
	for i := range 20_000 {
		b := fmt.Appendf(nil, "%d-%0*d", i, i%50, 0)
		texts = append(texts, text.Of(b))
		b[0] = 'x'
		lists = append(lists, slab.Of([]int{i, i + 1, i + 2}[:i%4]))
		g.Add(i)
	}
	_ = append(lists[3], 9) // nobody else's
	for i := range texts {
		if want := fmt.Sprintf("%d-%0*d", i, i%50, 0); texts[i] != want {
			t.Fatalf("%q, want %q", texts[i], want)
		}
		if want := []int{i, i + 1, i + 2}[:i%4]; !slices.Equal(lists[i], want) || lists[i] == nil {
			t.Fatalf("%v, want %v", lists[i], want)
		}
	}
	rows := g.Rows()
	if len(rows) != 20_000 || g.Len() != len(rows) || !slices.IsSorted(rows) || rows[0] != 0 || rows[19_999] != 19_999 {
		t.Errorf("%d rows", len(rows))
	}
	if text.Of(make([]byte, 3*maxPiece)) == "" || len(slab.Of(make([]int, 3*maxRows))) != 3*maxRows {
		t.Error("what is larger than a piece is not kept")
	}
	if (&Gather[int]{}).Rows() != nil {
		t.Error("none is not nil")
	}
}

// An index finds the rows of a key, in order, whether or not rows tell their keys, and
// however wrong its size was guessed.
func TestIndexFindsRowsInOrder(t *testing.T) {
	t.Parallel()
	const n = 5000
	key := func(i int32) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(i % 97), byte(i % 7)}) }
	for _, guess := range []int{0, 1, n / 3, n} {
		told, lean := newIndex[netip.Addr](guess), newLean(guess, key)
		want := map[netip.Addr][]int32{}
		for i := int32(n - 1); i >= 0; i-- {
			told.add(key(i), int(i))
			lean.add(key(i), int(i))
			want[key(i)] = append([]int32{i}, want[key(i)]...)
		}
		for _, x := range []*index[netip.Addr]{&told, &lean} {
			for k, rows := range want {
				first, ok := x.first(k)
				if got := slices.Collect(x.rows(k)); !slices.Equal(got, rows) || !ok || first != rows[0] {
					t.Fatalf("guess %d: %v has %v, want %v", guess, k, got, rows)
				}
			}
			if _, ok := x.first(netip.MustParseAddr("10.1.0.0")); ok {
				t.Error("found what is not there")
			}
		}
	}
	var none index[name]
	if _, ok := none.first(name{"a", "b"}); ok || len(slices.Collect(none.rows(name{"a", "b"}))) > 0 {
		t.Error("found in an empty index")
	}
}
