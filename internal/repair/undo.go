package repair

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// HoldPrefix begins the temporary handle of an address between two writes of one repair. It
// has no handle object.
const HoldPrefix = "plumbline-hold."

// Undo plans how to undo what a journal says was done, for one finding, or for all if only
// is empty. It compensates: new writes to the current objects, with their own verification;
// an old body is never put back. What cannot be undone is refused with a reason. Steps are
// undone in reverse order of their writes; recounts of handles come last.
func Undo(p *Plan, es []Entry, only string) *Plan {
	u := &undoer{back: &Plan{Schema: Schema, ID: p.ID + "-undo", Cluster: p.Cluster, Undoes: p.ID, Made: p.Made, Version: p.Version, KubeRevision: p.KubeRevision, EtcdRevision: p.EtcdRevision, Nodes: p.Nodes}, plan: p, only: only}
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
}

func (u *undoer) wants(f string) bool { return u.only == "" || u.only == f }

// take adds what undoes one write. Its entry e is an Intent that changes returned.
func (u *undoer) take(s *Step, e Entry) {
	var f string
	if i := slices.IndexFunc(e.For, u.wants); i >= 0 {
		f = e.For[i]
	} else {
		return
	}
	switch {
	case s.Ordinals != nil:
		u.ordinals(s, e)
	case s.Count != nil:
		u.recount(f, s.Count.Handle, s.Count.Blocks, s.Count.Raise)
		u.target(f, Proof{})
	case s.Affinity != nil:
		u.affinity(s, e, f)
	case s.Endpoint != nil:
		u.endpoint(s, e, f)
	case s.Annotate != nil:
		u.annotation(s, f)
	case s.Mend != nil:
		u.refuse(f, "a repaired block structure is not reverted")
	case s.NewBlock != nil:
		u.refuse(f, "the block stays: Calico deletes it when it is empty and has no affinity")
	case s.Evict != nil, s.Restart != nil:
		u.refuse(f, s.On.Name+" was evicted or restarted, which cannot be undone")
	case s.Node != nil:
		u.refuse(f, s.On.Name+": a change on a node cannot be undone")
	}
}

func (u *undoer) refuse(f, why string) {
	r := Refusal{Finding: f, Why: why}
	if !slices.Contains(u.back.Refused, r) {
		u.back.Refused = append(u.back.Refused, r)
	}
}

// target adds what must be verified to undo a finding. The proof of several steps of one
// finding is their union: all addresses, containers and nodes. Except stays only if every
// step has exceptions: one that releases or deletes allows none. All is set if any step
// names no node.
func (u *undoer) target(f string, p Proof) {
	t := u.back.Target(f)
	if t == nil {
		u.back.Targets = append(u.back.Targets, Target{Finding: f, Summary: "undo what was done for it", Risk: Safe, NoUndo: "an undo cannot be undone"})
		t = &u.back.Targets[len(u.back.Targets)-1]
	}
	if p.Running != nil {
		t.Proof.Running = p.Running
	}
	if p.NotInUse == nil {
		return
	}
	all := len(p.NotInUse.Nodes) == 0
	switch d := t.Proof.NotInUse; {
	case d == nil:
		t.Proof.NotInUse = &NotInUse{All: all, Except: slices.Clone(p.NotInUse.Except)}
	case len(d.Except) == 0 || len(p.NotInUse.Except) == 0:
		d.All, d.Except = d.All || all, nil // one of the steps releases or deletes: no exceptions
	default:
		d.All = d.All || all
		for _, c := range p.NotInUse.Except {
			d.Except = appendNew(d.Except, c)
		}
	}
	for _, ip := range p.NotInUse.IPs {
		if !slices.Contains(t.Proof.NotInUse.IPs, ip) {
			t.Proof.NotInUse.IPs = append(t.Proof.NotInUse.IPs, ip)
		}
	}
	for _, c := range p.NotInUse.Containers {
		t.Proof.NotInUse.Containers = appendNew(t.Proof.NotInUse.Containers, c)
	}
	// The node that ran the pod when it received the record, also if its Node object is gone.
	if was := u.plan.Target(f); was != nil && was.Proof.Running != nil {
		t.Proof.NotInUse.Nodes = appendNew(t.Proof.NotInUse.Nodes, was.Proof.Running.Node)
	}
	for _, n := range p.NotInUse.Nodes {
		t.Proof.NotInUse.Nodes = appendNew(t.Proof.NotInUse.Nodes, n)
	}
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

func (u *undoer) recount(f, handle string, blocks []netip.Prefix, raises []Raise) {
	if u.counts == nil {
		u.counts = map[string]*recounted{}
	}
	c := u.counts[handle]
	if c == nil {
		c = &recounted{}
		u.counts[handle] = c
	}
	c.of, c.blocks = appendNew(c.of, f), append(c.blocks, blocks...)
	for _, r := range raises {
		c.blocks = append(c.blocks, r.Block)
	}
}

// finish appends the recounts. They have Always set: they set handles to what the blocks
// hold, whichever steps of the undo succeed.
func (u *undoer) finish() {
	var handles []string
	for h := range u.counts {
		handles = append(handles, h)
	}
	slices.Sort(handles)
	for _, h := range handles {
		c := u.counts[h]
		c.of = slices.DeleteFunc(c.of, func(f string) bool { return u.back.Target(f) == nil })
		if len(c.of) == 0 {
			continue // no step of this undo changes its addresses
		}
		slices.SortFunc(c.blocks, func(a, b netip.Prefix) int { return strings.Compare(a.String(), b.String()) })
		u.step(Step{Do: "recount", On: model.Ref{Kind: model.KindHandle, Name: h}, For: c.of, Always: true, Change: Change{Count: &Count{Handle: h, Blocks: slices.Compact(c.blocks)}}})
	}
}

// owner parses the attribute of a journal entry; nil means free.
func owner(w ordinalWas) (*object.Attribute, bool) {
	if len(w.Attribute) == 0 {
		return nil, true
	}
	var at object.Attribute
	return &at, json.Unmarshal(w.Attribute, &at) == nil
}
