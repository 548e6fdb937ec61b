package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// maxOff is how many nodes are named.
const maxOff = 5

// clocksOff names the nodes whose clocks are off, in words; empty if none is known to be.
func clocksOff(s *model.Snapshot) string {
	var off []string
	for _, node := range slices.Sorted(maps.Keys(s.NodeState)) {
		for _, m := range s.NodeState[node].Machines {
			if m.Ahead != 0 {
				off = append(off, node+" by "+ClockOff(time.Duration(m.Ahead)*time.Second))
			}
		}
	}
	if len(off) == 0 {
		return ""
	}
	shown, more := off[:min(len(off), maxOff)], ""
	if n := len(off) - len(shown); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "clocks differ from the API server's: " + strings.Join(shown, ", ") + more
}

// ClockOff is how a difference of a node's clock is told.
func ClockOff(ahead time.Duration) string {
	if ahead < 0 {
		return (-ahead).String() + " (behind)"
	}
	return ahead.String() + " (ahead)"
}
