package timeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// calicoNetwork begins the handles of today: a container's ID follows, which people replace.
const calicoNetwork = "k8s-pod-network."

// legacyHandles finds handles that are named after pods, in blocks as people paste them: one verdict
// for each file.
func legacyHandles(rows []row) []Verdict {
	var out []Verdict
	for from := 0; from < len(rows); {
		to := from
		handles, lines := map[string]bool{}, []Place(nil)
		for ; to < len(rows) && rows[to].place.File == rows[from].place.File; to++ {
			r := &rows[to]
			if r.kind != HandleSeen || !model.Legacy(r.object) || model.Reusable(r.object) || strings.HasPrefix(r.object, calicoNetwork) {
				continue
			}
			if handles[r.object] = true; len(lines) < maxContext {
				lines = append(lines, r.place)
			}
		}
		from = to
		if len(handles) == 0 {
			continue
		}
		out = append(out, Verdict{
			Cause: LegacyHandle, Certainty: Likely, Count: len(handles), Lines: tidy(lines),
			Says:     fmt.Sprintf("IPAM has handles named after pods, as Calico 2 did: %s; the DEL of an older pod of that name releases the address of a newer one", some(slices.Sorted(maps.Keys(handles)))),
			NotShown: []string{"whether these pods exist, of which block the handles are, and what their addresses are: the pasted lines do not show it"},
		})
	}
	return out
}
