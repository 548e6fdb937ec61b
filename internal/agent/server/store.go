// Package server is the agent on a node: it keeps the node's tables current and hands
// them out to those who may ask. It judges nothing.
package server

import (
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
)

// A store holds the tables as they were last seen. An answer is a copy of it, so that
// whatever hangs on the node, the answer does not.
type store struct {
	node    string
	version string
	answer  func(eventlog.Entry)

	mu       sync.Mutex
	tables   map[model.Table]tableCache
	coverage map[model.Table]model.Coverage
	seen     map[model.Table]time.Time // when each was last seen in full
}

// unreadAfter is how long a table may not be seen before its rows count as new: what happened
// meanwhile nobody knows.
const unreadAfter = 2 * time.Minute

func newStore(node, version string, tell func(eventlog.Entry)) *store {
	s := &store{
		node: node, version: version, answer: tell, tables: tableSpecs(),
		coverage: map[model.Table]model.Coverage{}, seen: map[model.Table]time.Time{},
	}
	for _, t := range model.FactTables() {
		s.coverage[t] = model.Coverage{Table: t, Node: node, State: model.Lost, Reason: "not read yet"}
	}
	return s
}

// put takes what was read. A table that was not seen in full keeps its rows as they were:
// half a table would look like change.
func (s *store) put(f *model.NodeState, seen []model.Coverage, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range seen {
		c.Node = s.node
		s.coverage[c.Table] = c
		if !c.State.Seen() {
			continue
		}
		again := now.Sub(s.seen[c.Table]) > unreadAfter
		s.seen[c.Table] = now
		s.tables[c.Table].put(f, now, again, func(e eventlog.Entry) {
			e.At = now
			s.answer(e)
		})
	}
}

// snapshot copies the tables; none means all.
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
	boxes := &model.NodeState{} // as last seen: a runtime that is silent now has not changed them
	s.tables[model.Sandboxes].copyTo(boxes, now)
	join(f.Attachments, boxes.Sandboxes)
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
