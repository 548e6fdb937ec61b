package guard

import (
	"errors"
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/plain"
)

// Summary says in one line what the guards of the nodes do, for status.
func Summary(said []cluster.GuardStatus, unread map[string]error) string {
	all := guards{said, unread}
	modes, late, stopped, old, unprotected := map[guard.Mode]int{}, 0, 0, 0, 0
	for i := range all.said {
		var mode guard.Mode
		if r := all.said[i].Report; r != nil {
			mode, late, stopped = inForce(r), late+r.Late, stopped+r.Stopped
			if r.Unprotected() != "" {
				unprotected++
			}
		}
		modes[mode]++
	}
	for _, err := range all.unread {
		if errors.Is(err, cluster.ErrOlderAgent) {
			old++
		}
	}
	var on []string
	for _, mode := range []guard.Mode{guard.Enforce, guard.Observe, guard.Off} {
		if modes[mode] > 0 {
			on = append(on, fmt.Sprintf("%s on %s", mode, plain.Thousands(modes[mode])))
		}
	}
	if modes[""] > 0 {
		on = append(on, "not installed on "+plain.Thousands(modes[""]))
	}
	out := strings.Join(on, ", ")
	switch {
	case out == "" && old == 0:
		return "unknown: no agent answers"
	case out == "":
		return "unknown: the agents are older than the guard"
	case all.installed():
		out += fmt.Sprintf("; late DELs: %s seen, %s stopped", plain.Thousands(late), plain.Thousands(stopped))
	}
	if unprotected > 0 {
		out += fmt.Sprintf("; not protected for certain: %s", plain.Count(unprotected, "node"))
	}
	if old > 0 {
		out += fmt.Sprintf("; %s older than the guard", plain.Count(old, "agent"))
	}
	return out
}
