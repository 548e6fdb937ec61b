package snapshotio

import (
	"encoding/json"
	"reflect"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// A row of an ordinary node weighs little: hundreds of pods with all their tables are far from the
// limit of a node.
func TestWeightOfOrdinaryRows(t *testing.T) {
	t.Parallel()
	const attachment = `{"sandbox":"8b774c0be27f424fd0850affc08e510c3e62f45b75333d0e8e4a7281f96a8d13","netns":"/run/netns/cni-1","inode":4026532000,"pids":2,"device":"eth0","index":3,"peer":9,"mac":"02:00:00:00:00:01","ips":["10.0.0.1/32","fd00::1/128"],"routes":[{"dst":"0.0.0.0/0"},{"dst":"169.254.1.1/32"}],"neighbours":[{"ip":"169.254.1.1","mac":"ee:ee:ee:ee:ee:ee"}],"up":true}`
	if w := Weight([]byte(attachment)); w < 3*elementWeight || w > 6000 {
		t.Errorf("an attachment weighs %d", w)
	}
	if w := 500 * Weight([]byte(attachment)); w > 4<<20 {
		t.Errorf("those of 500 pods weigh %d", w)
	}
}

// The weight is an upper bound of what a row is, whatever its text is.
func FuzzWeight(f *testing.F) {
	f.Add([]byte(`{"routes":[{},null,{}],"ips":["10.0.0.1/32"]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var a model.Attachment
		if decodeRow(line, &a) != nil {
			return
		}
		elements := cap(a.Routes) + cap(a.Neighbours) + cap(a.IPs)
		if again, err := json.Marshal(&a); err == nil && (Weight(line) < elements*100 || Weight(line)*8 < len(again)) {
			t.Errorf("%d weighs %d, and becomes %d elements, %d bytes", len(line), Weight(line), elements, len(again))
		}
	})
}

// No row and no element of a list in one is larger than what an element weighs.
func TestElementsAreNotLarger(t *testing.T) {
	t.Parallel()
	var visit func(reflect.Type, map[reflect.Type]bool)
	visit = func(of reflect.Type, seen map[reflect.Type]bool) {
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() { //nolint:exhaustive // the others have no elements
		case reflect.Slice, reflect.Array, reflect.Pointer:
			if of.Elem().Size() > elementWeight {
				t.Errorf("%s has %d bytes", of.Elem(), of.Elem().Size())
			}
			visit(of.Elem(), seen)
		case reflect.Map:
			visit(of.Elem(), seen)
		case reflect.Struct:
			for i := range of.NumField() {
				visit(of.Field(i).Type, seen)
			}
		}
	}
	visit(reflect.TypeFor[model.Snapshot](), map[reflect.Type]bool{})
}
