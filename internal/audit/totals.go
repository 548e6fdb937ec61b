package audit

import (
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// Totals counts the findings in one line.
func (r *Report) Totals(what string) string {
	n := map[finding.Severity]int{}
	for i := range r.Findings {
		n[r.Findings[i].Severity]++
	}
	var by []string
	for _, s := range []finding.Severity{finding.Error, finding.Warning, finding.Info} {
		if n[s] > 0 {
			by = append(by, fmt.Sprintf("%s %s", plain.Thousands(n[s]), s))
		}
	}
	out := "No " + what + "s"
	if len(r.Findings) > 0 {
		out = fmt.Sprintf("%s (%s)", plain.Count(len(r.Findings), what), strings.Join(by, ", "))
	}
	if len(r.Unconfirmed) > 0 {
		out += fmt.Sprintf("; %s unconfirmed", plain.Thousands(len(r.Unconfirmed)))
		if t := r.RecheckAfter(); !t.IsZero() {
			layout, at := "15:04 UTC", t.Add(59*time.Second).Time().UTC()
			if at.Format(time.DateOnly) != r.Taken.Time().UTC().Format(time.DateOnly) {
				layout = plain.MinuteLayout
			}
			out += "; recheck after " + at.Format(layout)
		}
	}
	if len(r.Suppressed) > 0 {
		out += fmt.Sprintf("; %s suppressed", plain.Thousands(len(r.Suppressed)))
	}
	return out
}
