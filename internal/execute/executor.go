package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// What ends a run before its plan is done. Nothing more is written after any of them.
var (
	ErrHalted  = errors.New("stopped")
	ErrJournal = errors.New("the journal cannot be written")
	ErrTooMany = errors.New("one write after the other fails")
)

// An Executor carries out one plan. It does one thing after the other, and has no clock of
// its own.
type Executor struct {
	Calico     Store // blocks, handles, affinities, endpoints
	Kube       Store // pods; nodes, services and machines to look at
	Nodes      Nodes
	NodeWriter NodeWriter // nil if nothing on a node can be changed
	Etcd       bool       // Calico's records are in etcd
	MaxRisk    repair.Risk
	DryRun     bool // the stores write nothing, and nothing is journalled

	Journal  func(repair.Entry) error        // returns when the entry is on disk
	Halt     func(ctx context.Context) error // asked before every write: the kill switch, the lease
	Now      func() time.Time                // the API server's
	Sleep    func(context.Context, time.Duration) error
	Budget   Budget
	Progress func(Progress) // may be nil

	plan    *repair.Plan
	targets map[string]*repair.Target
	last    map[string]int // index of the last step for a finding
	entries []repair.Entry
	dropped map[string]Verdict // findings that are no longer repaired, and why
	written map[string]bool    // findings for which something was written
	rolls   map[string]nodeAnswers
	spent   spending
	failing int // writes in a row
	undoing bool
}

// A Progress is told after each step.
type Progress struct {
	Step    *repair.Step
	N, Of   int
	Outcome repair.Outcome
	Why     string
	Undo    bool
}

// A Verdict is what became of a finding or a step.
type Verdict struct {
	Outcome repair.Outcome
	Why     string
}

// A Result is what became of a plan.
type Result struct {
	Steps    map[int]Verdict
	Findings map[string]Verdict
}

// How often a step is judged again when others write in between, and how many failures in
// a row mean that something is wrong with all of them.
const (
	maxTries   = 12
	maxFailing = 3
)

// Run carries out the plan from where a past run of it ended. An error means that it did
// not come to its end.
func (x *Executor) Run(ctx context.Context, p *repair.Plan, past []repair.Entry) (Result, error) {
	if err := p.Valid(); err != nil {
		return Result{}, err
	}
	x.read(p)
	x.entries = slices.Clone(past)
	x.dropped, x.written, x.rolls = map[string]Verdict{}, map[string]bool{}, map[string]nodeAnswers{}
	res := Result{Steps: map[int]Verdict{}, Findings: map[string]Verdict{}}
	done := x.recall(past)
	x.refuseRisks()
	for i := range p.Steps {
		s := &p.Steps[i]
		v := Verdict{Outcome: repair.Done, Why: "in an earlier run"}
		if !done[s.ID] {
			var err error
			if v, err = x.step(ctx, s); err != nil {
				res.Steps[s.ID] = Verdict{repair.Failed, err.Error()}
				return x.finish(res), fmt.Errorf("step %d, %s: %w", s.ID, s.On, err)
			}
		}
		res.Steps[s.ID] = v
		x.report(Progress{Step: s, N: i + 1, Of: len(p.Steps), Outcome: v.Outcome, Why: v.Why})
		if err := x.close(ctx, i); err != nil {
			return x.finish(res), err
		}
	}
	return x.finish(res), nil
}

// read makes the plan easy to ask: there may be tens of thousands of findings.
func (x *Executor) read(p *repair.Plan) {
	x.plan, x.targets, x.last = p, make(map[string]*repair.Target, len(p.Targets)), make(map[string]int, len(p.Targets))
	for i := range p.Targets {
		x.targets[p.Targets[i].Finding] = &p.Targets[i]
	}
	for i := range p.Steps {
		for _, f := range p.Steps[i].For {
			x.last[f] = i
		}
	}
}

// recall takes from a past run what is done, and for which findings something was written
// or may have been: an intent without an outcome is one of which nobody knows.
func (x *Executor) recall(past []repair.Entry) map[int]bool {
	done, open, void := map[int]bool{}, map[int][]string{}, map[int]bool{}
	for _, e := range past {
		if e.Undo && e.Outcome == repair.Done {
			for _, f := range e.For {
				x.drop(f, repair.Failed, "it was taken back in an earlier run")
			}
		}
		if e.Undo || e.Step <= 0 {
			continue
		}
		switch e.Outcome {
		case repair.Done:
			done[e.Step] = true
			x.wrote(e.For)
			x.dropOthers(e)
		case repair.Intent:
			open[e.Step] = e.For
			void[e.Step] = false
		case repair.Unknown:
			x.wrote(e.For)
		case repair.Stale, repair.Failed, repair.Refused:
			void[e.Step] = true // nothing was written
		default: // it was so when somebody looked: perhaps by that very write
			void[e.Step] = false
		}
	}
	for step, findings := range open {
		if !void[step] {
			x.wrote(findings)
		}
	}
	return done
}

// dropOthers drops the findings of a step that was done without them.
func (x *Executor) dropOthers(e repair.Entry) {
	i := e.Step - 1 // a valid plan counts its steps from one
	if i >= len(x.plan.Steps) || x.plan.Steps[i].Always || len(e.For) == 0 {
		return
	}
	for _, f := range x.plan.Steps[i].For {
		if !slices.Contains(e.For, f) {
			x.drop(f, repair.Moved, "it was left alone in an earlier run")
		}
	}
}

func (x *Executor) wrote(findings []string) {
	for _, f := range findings {
		x.written[f] = true
	}
}

// refuseRisks drops what is riskier than was allowed.
func (x *Executor) refuseRisks() {
	for i := range x.plan.Targets {
		if t := &x.plan.Targets[i]; t.Risk.Level() > x.MaxRisk.Level() {
			x.drop(t.Finding, repair.Refused, fmt.Sprintf("it is %s, and --max-risk is %s", t.Risk, x.MaxRisk))
		}
	}
}

// step does one step, if anything is left for it to do.
func (x *Executor) step(ctx context.Context, s *repair.Step) (Verdict, error) {
	if why, skip := x.idle(s); skip {
		return Verdict{repair.Moved, why}, nil
	}
	switch {
	case s.Await != nil:
		return x.await(ctx, s)
	case s.Node != nil:
		return x.onNode(ctx, s)
	default:
		return x.swap(ctx, s)
	}
}

// idle tells that nothing is left for a step: its findings were dropped; or it only sets a
// record right after a write that did not happen.
func (x *Executor) idle(s *repair.Step) (string, bool) {
	why := "nothing was written that it would follow"
	for _, f := range s.For {
		if s.Always && x.written[f] {
			return "", false
		}
		if v, gone := x.dropped[f]; gone {
			why = v.Why
		} else if !s.Always {
			return "", false
		}
	}
	return why, true
}

func (x *Executor) keep(f string) bool { _, gone := x.dropped[f]; return !gone }

func (x *Executor) drop(f string, o repair.Outcome, why string) {
	if _, gone := x.dropped[f]; !gone {
		x.dropped[f] = Verdict{o, why}
	}
}

// close ends a finding after its last step. What was given is proven once more: if its owner
// has died meanwhile, or only a part could be done, what was written is compensated.
func (x *Executor) close(ctx context.Context, i int) error {
	for _, f := range x.plan.Steps[i].For {
		if x.undoing || x.DryRun || !x.written[f] || x.last[f] > i {
			continue
		}
		if t := x.targets[f]; t != nil && x.keep(f) {
			why, err := x.again(ctx, t)
			if err != nil {
				return err
			}
			if why != "" {
				x.drop(f, repair.Failed, "after the repair: "+why)
			}
		}
		if v, gone := x.dropped[f]; gone && v.Outcome != repair.Unknown && (v.Outcome != repair.Moved || !x.onlyFrees(f)) {
			if err := x.compensate(ctx, i, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// onlyFrees tells that a finding's repair gives nothing to anybody. If the world moved on
// while it was under way, what was freed is another's to have: it is given back only to one
// who turns out alive.
func (x *Executor) onlyFrees(f string) bool {
	for i := range x.plan.Steps {
		if s := &x.plan.Steps[i]; slices.Contains(s.For, f) && !s.Frees() && (s.Count == nil || len(s.Count.Raise) > 0) {
			return false
		}
	}
	return true
}

// again asks for a proof once more, after the last write: the one that was given something
// may have died since, and the one that was thought dead may turn out alive. Of an address
// that was freed nothing is asked: it may be another's by now, and rightly.
func (x *Executor) again(ctx context.Context, t *repair.Target) (string, error) {
	p := repair.Proof{Running: t.Proof.Running}
	if d := t.Proof.NotInUse; d != nil && len(d.Containers) > 0 && !d.Calm && !asksAllNodes(d) {
		p.NotInUse = &repair.NotInUse{Containers: d.Containers, Nodes: d.Nodes, All: d.All, Absent: d.Absent}
	}
	var v Verdict
	for range 4 {
		var err error
		if v, err = x.hold(ctx, &p); err != nil {
			return "", err
		}
		switch v.Outcome {
		case "":
			return "", nil
		case repair.Refused:
			return v.Why, nil
		default: // silent, or busy: no reason to take anything back
		}
		if err := x.Sleep(ctx, 2*time.Second); err != nil {
			return "", fmt.Errorf("%w: %w", ErrHalted, err)
		}
	}
	x.drop(t.Finding, repair.Unknown, "done, and not verified: "+v.Why)
	return "", nil
}

// needed tells that a step after this one gives something to a handle.
func (x *Executor) needed(at int, handle string) bool {
	for _, s := range x.plan.Steps[at+1:] {
		if slices.ContainsFunc(s.Ordinals, func(o repair.Ordinal) bool { return o.To != nil && o.To.Handle == handle }) {
			return true
		}
	}
	return false
}

// compensate takes back what was written for a finding up to a step, by new forward writes.
func (x *Executor) compensate(ctx context.Context, at int, f string) error {
	back := repair.Undo(x.plan, x.entries, f)
	y := *x
	y.read(back)
	y.undoing = true
	y.dropped, y.written = map[string]Verdict{}, map[string]bool{}
	for i := range back.Steps {
		s := &back.Steps[i]
		if s.Count != nil && x.needed(at, s.Count.Handle) {
			continue // a step to come counts on it: too much only leaks a record
		}
		v, err := y.step(ctx, s)
		if err != nil {
			return fmt.Errorf("take back step for %s: %w", f, err)
		}
		x.report(Progress{Step: s, N: i + 1, Of: len(back.Steps), Outcome: v.Outcome, Why: v.Why, Undo: true})
	}
	x.entries, x.spent, x.failing = y.entries, y.spent, y.failing
	return nil
}

// finish tells what became of every finding. One for which no step came to its end was not
// repaired, whatever else was.
func (x *Executor) finish(res Result) Result {
	for f := range x.targets {
		res.Findings[f] = Verdict{repair.Moved, "nothing was left to do for it"}
	}
	for i := range x.plan.Steps {
		s := &x.plan.Steps[i]
		o := res.Steps[s.ID].Outcome
		for _, f := range s.For {
			switch had := res.Findings[f].Outcome; {
			case o == repair.Done && x.written[f]:
				res.Findings[f] = Verdict{Outcome: repair.Done}
			case (o == repair.Already || o == repair.Done) && had == repair.Moved:
				res.Findings[f] = Verdict{Outcome: repair.Already}
			}
		}
	}
	for f, v := range x.dropped {
		res.Findings[f] = v
	}
	return res
}

func (x *Executor) report(p Progress) {
	if x.Progress != nil {
		x.Progress(p)
	}
}

func (x *Executor) log(e repair.Entry) error {
	e.At, e.Undo = model.At(x.Now()), x.undoing
	x.entries = append(x.entries, e)
	if x.DryRun {
		return nil
	}
	if err := x.Journal(e); err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return nil
}
