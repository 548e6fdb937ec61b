package repair

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// Undo plans how to undo what a journal says was done, for one finding, or for all if only
// is empty. It compensates: new writes to the current objects, with their own verification;
// an old body is never put back. What cannot be undone is refused with a reason. Steps are
// undone in reverse order of their writes; recounts of handles come last.
func Undo(p *Plan, es []Entry, only string) *Plan {
	u := &undoer{back: &Plan{Schema: Schema, ID: p.ID + "-undo", Cluster: p.Cluster, Undoes: p.ID, Made: p.Made, Version: p.Version, KubeRevision: p.KubeRevision, EtcdRevision: p.EtcdRevision, Nodes: p.Nodes, Calico: p.Calico, Accepted: p.Accepted}, plan: p, only: only, entries: es}
	for _, e := range slices.Backward(changes(p, es)) {
		if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.ID == e.Step }); i >= 0 {
			u.take(&p.Steps[i], e)
		}
	}
	u.finish()
	return u.back
}

// changes gives the Intents of writes that were done or may have been done, in order. An
// Intent is left out only if its write is known to have changed nothing:
//
//   - Stale, Failed, Refused after it: the write was rejected, unless an Unknown came before
//     (then an earlier try of it may have been done);
//   - Already after a Stale: a request may be sent twice, and the second is rejected as stale
//     although the first was done, so Already then counts as done by us. Except for steps that
//     only release: Calico may have released the address and lowers the count of the handle
//     afterwards; an undo would allocate the address to a handle that Calico deletes.
//
// Done, Unknown, Moved and no outcome at all leave the Intent in.
func changes(p *Plan, es []Entry) []Entry {
	frees := map[int]bool{}
	for i := range p.Steps {
		frees[p.Steps[i].ID] = p.Steps[i].Frees()
	}
	var out []Entry
	var void []bool           // by index in out: its write is known to have changed nothing
	last := map[int]int{}     // by step: index in out of its newest Intent
	unknown := map[int]bool{} // by index in out: a try had outcome Unknown
	for _, e := range es {
		if e.Undo || e.Step <= 0 {
			continue
		}
		i, open := last[e.Step]
		switch {
		case e.Outcome == Intent:
			last[e.Step] = len(out)
			out, void = append(out, e), append(void, false)
		case open:
			nothing := e.Outcome == Stale || e.Outcome == Failed || e.Outcome == Refused || e.Outcome == Already && void[i] && frees[e.Step]
			void[i] = nothing && !unknown[i]
			unknown[i] = unknown[i] || e.Outcome == Unknown // only a read of the object can tell
		}
	}
	var kept []Entry
	for i := range out {
		if !void[i] {
			kept = append(kept, out[i])
		}
	}
	return kept
}

// An undoer builds the plan back that undoes plan.
type undoer struct {
	plan, back *Plan
	only       string                // key of the only finding to undo; empty: all
	counts     map[string]*recounted // by handle: recounts that finish appends
	entries    []Entry
}

// Wants reports whether a finding is undone.
func (u *undoer) Wants(f string) bool { return u.only == "" || u.only == f }

// take adds what undoes one write. Its entry e is an Intent that changes returned.
func (u *undoer) take(s *Step, e Entry) {
	i := slices.IndexFunc(e.For, u.Wants)
	if i < 0 || s.Change == nil {
		return
	}
	f := e.For[i]
	s.Change.Undo(change.Write{Do: s.Do, On: s.On, Finding: f, For: e.For, Was: e.Was, Now: e.Now}, u)
}

// Refuse adds a refusal, once.
func (u *undoer) Refuse(f, why string) {
	r := Refusal{Finding: f, Why: why}
	if !slices.Contains(u.back.Refused, r) {
		u.back.Refused = append(u.back.Refused, r)
	}
}

// Verified gives the proof that a finding had in the plan that is undone.
func (u *undoer) Verified(f string) change.Proof {
	if t := u.plan.Target(f); t != nil {
		return t.Proof
	}
	return change.Proof{}
}

// Step adds a step of the undo.
func (u *undoer) Step(do string, on model.Ref, c change.Change, findings ...string) {
	u.step(Step{Do: do, On: on, For: findings, Change: c})
}

func (u *undoer) step(s Step) {
	s.ID = len(u.back.Steps) + 1
	u.back.Steps = append(u.back.Steps, s)
}

// A recounted handle has blocks in which the undo changes its addresses.
type recounted struct {
	blocks []netip.Prefix
	of     []string // keys of the findings
}

// Recount has finish add a recount of the handle.
func (u *undoer) Recount(f, handle string, blocks ...netip.Prefix) {
	if u.counts == nil {
		u.counts = map[string]*recounted{}
	}
	c := u.counts[handle]
	if c == nil {
		c = &recounted{}
		u.counts[handle] = c
	}
	c.blocks = append(c.blocks, blocks...)
	if !slices.Contains(c.of, f) {
		c.of = append(c.of, f)
	}
}

// finish appends the recounts. They have Always set: they set handles to what the blocks
// hold, whichever steps of the undo succeed.
func (u *undoer) finish() {
	for _, h := range slices.Sorted(maps.Keys(u.counts)) {
		c := u.counts[h]
		c.of = slices.DeleteFunc(c.of, func(f string) bool { return u.back.Target(f) == nil })
		if len(c.of) == 0 {
			continue // no step of this undo changes its addresses
		}
		count := &change.Count{Handle: h}
		if u.onlyCounted(c.of) {
			if count.Unchanged = u.revision(h); count.Unchanged == "" {
				continue // its count may be too high, which only keeps the handle
			}
		}
		slices.SortFunc(c.blocks, func(a, b netip.Prefix) int { return strings.Compare(a.String(), b.String()) })
		count.Blocks = slices.Compact(c.blocks)
		u.step(Step{Do: "recount", On: model.Ref{Kind: model.KindHandle, Name: h}, For: c.of, Always: true, Change: count})
	}
}

// onlyCounted reports that nothing but counts of handles was written for the findings: the next
// write was refused, or never sent.
func (u *undoer) onlyCounted(findings []string) bool {
	return !slices.ContainsFunc(u.back.Steps, func(s Step) bool {
		return !s.Always && slices.ContainsFunc(s.For, func(f string) bool { return slices.Contains(findings, f) })
	})
}

// revision is the one that our last write gave a handle; empty if it is not known. While the handle
// has it, no ADD counted in it: the count can be lowered without asking nodes.
func (u *undoer) revision(handle string) (last string) {
	for _, e := range u.entries {
		i := slices.IndexFunc(u.plan.Steps, func(s Step) bool { return s.ID == e.Step })
		if i < 0 || e.Undo || u.plan.Steps[i].On != (model.Ref{Kind: model.KindHandle, Name: handle}) {
			continue
		}
		switch e.Outcome {
		case Done:
			last = e.Revision
		case Unknown:
			last = ""
		default:
		}
	}
	return last
}
