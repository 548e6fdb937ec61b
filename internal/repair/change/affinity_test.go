package change

import (
	"net/netip"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// Calico before 3.30 has no type and no labels of affinities; its CRD refuses an unknown field.
func TestBareAffinity(t *testing.T) {
	t.Parallel()
	cidr := netip.MustParsePrefix("10.0.0.0/30")
	block := model.Ref{Kind: model.KindBlock, Name: cidr.String()}
	sc := Scene{For: []string{"PL1007/n1"}, Keep: func(string) bool { return true }, Also: map[model.Ref]model.Object{block: {
		Ref: block, UID: "u", Revision: "1", Body: []byte(`{"cidr":"10.0.0.0/30","affinity":"host:n1","allocations":[null,null,null,null],"unallocated":[0,1,2,3],"attributes":[]}`),
	}}}
	for _, bare := range []bool{false, true} {
		gone := &Affinity{Node: "n1", CIDR: cidr, Want: AffinityGone, From: AffinityConfirmed, Bare: bare}
		u := &undone{}
		gone.Undo(Write{Do: "remove", Was: []byte(`"confirmed"`)}, u)
		back, ok := u.change.(*Affinity)
		if !ok || (len(back.Label) == 0) != bare {
			t.Fatalf("bare %v: undone by %+v", bare, u.change)
		}
		e, err := back.Edit(sc)
		if err != nil || strings.Contains(string(e.Object.Body), `"type"`) == bare || (len(e.Object.Labels) == 0) != bare {
			t.Errorf("bare %v: %v, %s, labels %v", bare, err, e.Object.Body, e.Object.Labels)
		}
	}
}

// undone keeps the step of an undo.
type undone struct {
	Undoer
	change Change
}

func (u *undone) Need(string, Proof) {}

func (u *undone) Step(_ string, _ model.Ref, c Change, _ ...string) { u.change = c }
