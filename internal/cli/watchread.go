package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// readAgain reads what nobody tells the changes of, and asks the nodes, beside the changes.
// Agents are looked for each time: they come and go.
func (w *watchLoop) readAgain(ctx context.Context, a *background) {
	w.remember()
	if a.busy.read {
		return
	}
	a.busy.read = true
	nodes, had := w.live.Nodes(), w.src.Nodes != nil
	go func() { a.read <- w.read(ctx, nodes, had) }()
}

func (w *watchLoop) read(ctx context.Context, nodes []model.Node, had bool) reading {
	if err := w.selected(ctx); err != nil {
		return reading{err: err}
	}
	again := slices.Clone(w.again)
	agents, err := w.c.agents(ctx)
	if err != nil {
		return reading{err: fmt.Errorf("look for agents: %w", err)}
	}
	if agents != nil {
		again = append(again, agents)
	}
	s := observe.Snapshot(ctx, func(string, int, bool) {}, again...)
	if agents != nil {
		followed := &model.Snapshot{Nodes: nodes}
		agents.complete(followed)
		s.PutFacts(followed)
	}
	return reading{s: s, facts: agents != nil || had, agents: agents}
}

// take takes what was read again. What could not be read is said, and is no reason to read
// all anew.
func (w *watchLoop) take(r reading, a *background) error {
	if r.err != nil {
		fmt.Fprintf(w.g.Stderr, "%s\n", clean(r.err.Error()))
		return nil
	}
	if w.c.fleet = r.agents; r.agents != nil {
		w.src.Nodes = r.agents
	} else {
		w.src.Nodes = nil
	}
	if err := w.live.Replace(r.s, w.tables...); err != nil {
		return err
	}
	if r.facts {
		w.live.PutFacts(r.s)
	} else {
		w.say(w.live.Fallen(w.now()), time.Time{}, a)
	}
	w.say(w.live.Judge(w.now()), time.Time{}, a)
	a.dirty = true
	return nil
}

// remember keeps what is suspected for the next run, as every check does.
func (w *watchLoop) remember() {
	if err := w.g.keep(w.live.GUID(), w.live.Memory(w.now())); err != nil {
		fmt.Fprintf(w.g.Stderr, "what was suspected could not be kept for the next run: %v\n", err)
	}
}
