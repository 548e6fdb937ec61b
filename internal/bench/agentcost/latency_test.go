//go:build e2e

package agentcost

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// pause is between two requests: without it they would be most of the agent's work.
const pause = 5 * time.Millisecond

// latency measures how long after a change an answer shows it.
func (s *lookup) latency(t *testing.T, r *report) {
	t.Helper()
	kinds := s.kinds(t)
	wasBusy := busy()
	worst := s.changed(t, r, kinds)
	if wasBusy || busy() { // the machine was busy: repeat, and the better result counts
		r.add("the machine was busy: repeating all changes", "", "")
		worst = min(worst, s.changed(t, r, kinds))
	}
	if worst > maxLate {
		t.Errorf("p99 is %s", worst)
	}
}

// changed makes every change, by command and by library call, and returns the larger
// p99.
func (s *lookup) changed(t *testing.T, r *report, kinds []change) time.Duration {
	t.Helper()
	var worst time.Duration
	s.unseen = map[string]int{}
	for _, way := range []struct {
		name string
		do   func(ctx context.Context, c change) error
	}{
		{"by the library", func(_ context.Context, c change) error { return c.call() }},
		{"by command, including its start", func(ctx context.Context, c change) error { return s.command(ctx, c.argv) }},
	} {
		each, all := map[string]*spread{}, spread{}
		for range *changes {
			for _, c := range kinds {
				took := s.until(t, c, way.do)
				all = append(all, took)
				if each[c.name] == nil {
					each[c.name] = &spread{}
				}
				*each[c.name] = append(*each[c.name], took)
			}
		}
		r.add(fmt.Sprintf("reported after, %d changes %s", len(all), way.name), all.String(), "")
		for _, c := range kinds {
			r.add("  "+c.name, each[c.name].String(), "")
		}
		worst = max(worst, all.at(99))
	}
	if len(s.unseen) > 0 {
		r.add("  answers meanwhile without the table", fmt.Sprint(s.unseen), "")
	}
	return worst
}

func (s *lookup) until(t *testing.T, c change, do func(context.Context, change) error) time.Duration {
	t.Helper()
	began := time.Now()
	if err := do(t.Context(), c); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	for {
		f, err := s.ask.facts(t.Context(), c.table)
		switch {
		case errors.Is(err, errUnseen):
			s.unseen[err.Error()]++ // it answers that it has not read the table, which is not a report of the change
		case err != nil:
			t.Fatalf("%s: %v", c.name, err)
		case c.seen(f):
			return time.Since(began)
		}
		if time.Since(began) > 20*time.Second {
			t.Fatalf("%s: not reported after 20 s: %v", c.name, err)
		}
		time.Sleep(pause)
	}
}
