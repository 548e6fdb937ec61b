package objects

import (
	"cmp"
	"slices"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/finding"
)

// A Count is how many findings of a code are in a state.
type Count struct {
	Code     finding.Code
	Severity finding.Severity
	State    string // Confirmed, NotChecked or Suppressed
	N        int64
}

// Counts are the findings of the board, in stable order.
func (b *Board) Counts() []Count {
	sums := map[Count]int64{}
	for _, g := range b.groups {
		if g.state == v1alpha1.StateResolved {
			continue
		}
		of := Count{Code: g.code, Severity: g.severity}
		for state, n := range map[string]int64{
			v1alpha1.StateConfirmed: g.count - g.unchecked, v1alpha1.StateNotChecked: g.unchecked, v1alpha1.StateSuppressed: g.suppressed,
		} {
			if of.State = state; n > 0 {
				sums[of] += n
			}
		}
	}
	out := make([]Count, 0, len(sums))
	for c, n := range sums {
		c.N = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(x, y Count) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(x.Severity, y.Severity), cmp.Compare(x.State, y.State))
	})
	return out
}
