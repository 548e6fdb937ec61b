package execute

import (
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// An undo asks nodes and writes blocks on a copy: nothing that was computed before it is used after it.
func TestCompensateForgets(t *testing.T) {
	ref := model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/26"}
	x := &Executor{plan: &repair.Plan{ID: "p", Cluster: "c"}, named: &users{}, rolled: &users{}, counted: counted{block: model.Object{Ref: ref}}}
	if err := x.compensate(t.Context(), 0, "PL1001/10.0.0.1"); err != nil {
		t.Fatal(err)
	}
	if x.named != nil || x.rolled != nil || x.counted.block.Ref == ref {
		t.Errorf("%+v %+v %+v", x.named, x.rolled, x.counted)
	}
}
