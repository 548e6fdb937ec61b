//go:build e2e

package agents

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

const (
	settles = 5 * time.Second
	events  = 100
)

var beyond = flag.Duration("beyond", 15*time.Second, "what a finding may take beyond its settling time")

// faults takes the host route of a pod away on a node after another, while other rows change, and measures how long it takes
// until the controller counts one more confirmed finding.
func (c *cluster) faults(t *testing.T, r *report) {
	t.Helper()
	const metric = `plumbline_findings{code="PL3003",severity="error",state="Confirmed"}`
	var made []time.Time
	var took []time.Duration
	for end := time.Now().Add(4 * time.Minute); len(took) < events && time.Now().Before(end); {
		if due := len(made) == 0 || time.Since(made[len(made)-1]) > 500*time.Millisecond; due && len(made) < events {
			c.unroute(c.hosts[len(made)*len(c.hosts)/events])
			made = append(made, time.Now())
		}
		n, err := number(t.Context(), metric)
		if err != nil {
			t.Fatal(err)
		}
		for len(took) < min(int(n), len(made)) { // the first is confirmed first
			took = append(took, time.Since(made[len(took)]))
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(took) < events {
		t.Fatalf("%d of %d faults were found", len(took), events)
	}
	slices.Sort(took)
	p99 := took[events*99/100-1]
	r.add(fmt.Sprintf("%d faults to confirmed findings, settling %s", events, settles), fmt.Sprintf("median %s, p99 %s, at most %s", short(took[events/2]), short(p99), short(took[events-1])), "")
	if p99 > settles+*beyond {
		t.Errorf("p99 is %s", p99)
	}
}

// unroute lets the kernel of a host send the packets of its first pod to its card.
func (c *cluster) unroute(h *host) {
	s := h.real
	s.mu.Lock()
	next := *s.state
	next.Paths = slices.Clone(next.Paths)
	next.Paths[0].Link = card
	s.state = &next
	changed := s.changed
	s.mu.Unlock()
	changed(model.Paths)
}
