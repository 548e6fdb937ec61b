package guard

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

// footnotes say why late DELs were passed on although the guard may stop them.
type footnotes struct{ said []string }

// of gives the number of the note for a report, or 0.
func (f *footnotes) of(r *guard.Report) int {
	if r.Mode != guard.Enforce || r.Late <= r.Stopped {
		return 0
	}
	came := "no loss found on the node" // Calico IPAM is for check
	if r.Lost > 0 {
		came = "A POD WAS HARMED: see guard log"
	}
	var text string
	switch r.Keyed {
	case guard.ByContainer:
		text = fmt.Sprintf("%s compares container IDs: passed on, owner checked, %s", plain.Dash(r.Version), came)
	case guard.ByName, guard.ByBoth:
		text = "some arrived before the guard was switched to enforce and were passed on; owner checked, " + came
	default:
		text = fmt.Sprintf("it is not known whether %s compares container IDs: passed on, owner checked, %s", strings.TrimSpace(plain.Dash(r.Delegate)+" "+r.Version), came)
	}
	for i, s := range f.said {
		if strings.HasSuffix(s, text) {
			return i + 1
		}
	}
	f.said = append(f.said, fmt.Sprintf("(%d) %s", len(f.said)+1, text))
	return len(f.said)
}
