// Package server is the agent on a node: it keeps the node's tables current and returns
// them to authorized callers. It does not evaluate them.
package server

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
)

// A store holds the last read tables. An answer is a copy of it, so that an answer never
// waits for something that hangs on the node. mu guards the maps and the caches in them;
// node, version and answer never change.
type store struct {
	node    string
	version string
	answer  func(change) // logs a change; must not block

	mu       sync.Mutex
	tables   map[model.Table]tableCache
	coverage map[model.Table]model.Coverage // of the last read, complete or not; has every table
	seen     map[model.Table]time.Time      // when each was last read completely
	began    map[model.Table]time.Time      // when that read began; zero: reports from before may follow

	beat    time.Duration          // agent.BeatEvery
	start   string                 // random: numbers of another start mean nothing
	seq     uint64                 // of the last change
	last    map[model.Table]uint64 // of the last change of each table or its coverage
	covered map[model.Table]uint64 // of the last change of its coverage
	settled time.Time              // when rows were last settled
	changed chan struct{}          // closed and replaced at each change
}

// unreadAfter is how long a table may be unread before the age of its rows restarts: what
// happened in between is unknown.
const unreadAfter = 2 * time.Minute

func newStore(node, version string, tell func(change)) *store {
	s := &store{
		node: node, version: version, answer: tell, tables: tableSpecs(),
		coverage: map[model.Table]model.Coverage{}, seen: map[model.Table]time.Time{}, began: map[model.Table]time.Time{},
		beat: agent.BeatEvery, start: rand.Text(), last: map[model.Table]uint64{}, covered: map[model.Table]uint64{}, changed: make(chan struct{}),
	}
	for _, t := range model.FactTables() {
		s.coverage[t] = model.Coverage{Table: t, Node: node, State: model.Lost, Reason: "not read yet"}
	}
	return s
}

// touch returns once the store can be used: never, if it is deadlocked.
func (s *store) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
}

// put stores what was read. Began is when the read began, if all that was reported before is known. A table that was not read completely keeps its old rows: a
// partial table would look like changes.
func (s *store) put(f *model.NodeState, seen []model.Coverage, began, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seq := s.seq + 1
	for _, c := range seen {
		c.Node = s.node
		if was := s.coverage[c.Table]; was.State != c.State || was.Reason != c.Reason {
			s.last[c.Table], s.covered[c.Table] = seq, seq
		}
		s.coverage[c.Table] = c
		if !c.State.Seen() {
			continue
		}
		again := now.Sub(s.seen[c.Table]) > unreadAfter
		after := s.began[c.Table]
		s.seen[c.Table], s.began[c.Table] = now, began
		changed := s.tables[c.Table].put(f, now, again, seq, func(made change) {
			made.At, made.after = now, after
			s.answer(made)
		})
		if changed {
			s.last[c.Table] = seq
		}
	}
	s.advance(seq)
}

// advance makes a number the last one if a table has it, and wakes who waits for changes.
func (s *store) advance(seq uint64) {
	for _, last := range s.last {
		if last == seq {
			s.seq = seq
			close(s.changed)
			s.changed = make(chan struct{})
			return
		}
	}
}

// snapshot copies the given tables, without any all. A table whose last read was incomplete
// has no rows in the copy, only coverage.
func (s *store) snapshot(now time.Time, tables ...model.Table) *model.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &model.NodeState{}
	out := &model.Snapshot{
		Meta:      model.Meta{Schema: model.Schema, Taken: model.At(now), Version: s.version},
		NodeState: map[string]*model.NodeState{s.node: f},
	}
	for _, t := range model.FactTables() {
		if len(tables) > 0 && !slices.Contains(tables, t) {
			continue
		}
		c := s.coverage[t]
		out.Coverage = append(out.Coverage, c)
		if c.State.Seen() {
			s.tables[t].copyTo(f, now)
		}
	}
	boxes := &model.NodeState{} // as last read: sandboxes do not change because the runtime does not answer
	s.tables[model.Sandboxes].copyTo(boxes, now)
	model.Join(f.Attachments, boxes.Sandboxes)
	return out
}

func (s *store) digest(now time.Time) agent.Digest {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := agent.Digest{Node: s.node, Version: s.version, Taken: model.At(now), Tables: map[string]agent.TableDigest{}, Not: map[string]string{}}
	for t, c := range s.coverage {
		if !c.State.Seen() {
			d.Not[t.String()] = cut(c.Reason, 60)
			continue
		}
		n, sum := s.tables[t].sum()
		d.Tables[t.String()] = agent.TableDigest{Rows: n, Sum: sum}
	}
	f := &model.NodeState{}
	s.tables[model.Machines].copyTo(f, now)
	if len(f.Machines) > 0 {
		d.BootID = f.Machines[0].BootID
	}
	return d
}

func cut(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
