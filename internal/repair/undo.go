package repair

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/model"
)

// HoldPrefix begins the handle under which an address stands for the moment between two
// writes of ours.
const HoldPrefix = "plumbline-hold."

// Undo plans how to take back what the entries of a journal say was done, for one finding
// or for all. It is compensation: new writes in the world as it is now, with proofs of
// their own, never the old body put back. What cannot be taken back is refused, and why.
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

// changes gives what was done or may have been: every intent that is not known to have
// come to nothing. A request that was sent twice is refused the second time: what was so
// when we looked again may be of the first. Of what only frees that is not believed: Calico
// frees too, and counts its handle down afterwards; what is taken back from it then would
// stand under a handle that goes.
func changes(p *Plan, es []Entry) []Entry {
	frees := map[int]bool{}
	for i := range p.Steps {
		frees[p.Steps[i].ID] = p.Steps[i].Frees()
	}
	var out []Entry
	var void []bool
	last := map[int]int{} // index of a step's newest intent
	unknown := map[int]bool{}
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
			unknown[i] = unknown[i] || e.Outcome == Unknown // then only a look can tell
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

type undoer struct {
	plan, back *Plan
	only       string
	counts     map[string]*recounted // handles to recount in the end
}

func (u *undoer) wants(f string) bool { return u.only == "" || u.only == f }

// take adds what takes one step back.
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
		u.refuse(f, "a block that was mended is not broken again")
	case s.NewBlock != nil:
		u.refuse(f, "the block stays: Calico removes it when it is empty and nobody claims it")
	case s.Evict != nil, s.Restart != nil:
		u.refuse(f, s.On.Name+" was ended, and what has ended does not come back")
	case s.Node != nil:
		u.refuse(f, s.On.Name+": what was done on the node is not taken back")
	}
}

func (u *undoer) refuse(f, why string) {
	r := Refusal{Finding: f, Why: why}
	if !slices.Contains(u.back.Refused, r) {
		u.back.Refused = append(u.back.Refused, r)
	}
}

// target says what must hold for a finding to be taken back. Several steps of one finding
// need the sum of it.
func (u *undoer) target(f string, p Proof) {
	t := u.back.Target(f)
	if t == nil {
		u.back.Targets = append(u.back.Targets, Target{Finding: f, Summary: "take back what was done for it", Risk: Safe, NoUndo: "it takes something back itself"})
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
		d.All, d.Except = d.All || all, nil // a part of it is taken away: then nobody is excepted
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
	// Where it was when it was given something, whether or not Kubernetes still knows that node.
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

// A recounted handle is counted for what was taken back of it.
type recounted struct {
	blocks []netip.Prefix
	of     []string // findings
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

// finish puts the recounts at the end: they make handles say what is, whatever was taken
// back.
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
			continue // nothing is taken back that a count would follow
		}
		slices.SortFunc(c.blocks, func(a, b netip.Prefix) int { return strings.Compare(a.String(), b.String()) })
		u.step(Step{Do: "recount", On: model.Ref{Kind: model.KindHandle, Name: h}, For: c.of, Always: true, Change: Change{Count: &Count{Handle: h, Blocks: slices.Compact(c.blocks)}}})
	}
}

// owner reads an attribute of a journal.
func owner(w OrdinalWas) (*object.Attribute, bool) {
	if len(w.Attribute) == 0 {
		return nil, true
	}
	var at object.Attribute
	return &at, json.Unmarshal(w.Attribute, &at) == nil
}
