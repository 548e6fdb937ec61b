package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// Errors that end a run before the plan is done. Nothing is written after any of them.
var (
	errHalted  = errors.New("stopped")
	errJournal = errors.New("the journal cannot be written")
	errTooMany = errors.New("too many writes in a row failed")
)

// An Executor executes one plan. It has one goroutine and no clock of its own.
//
// What holds for every write of a step:
//
//  1. Before: the object was read live, the conditions of the step hold for that version, the
//     proofs of all findings that it serves were verified after that read (exceptions:
//     Step.Always needs none, see also allNodesFor), Halt allowed it, and an Intent entry is
//     on disk.
//  2. The write is atomic: the store applies it only if the object still has the UID and
//     revision of that read (on a node: the agent verifies and changes atomically).
//  3. After: an entry with the outcome is on disk before the next step begins.
//  4. After the last step of a finding its proof is verified once more; if it does not hold
//     any more, the writes for that finding are undone by new writes.
//
// What a crash leaves:
//
//   - before the Intent is on disk: nothing was written;
//   - between Intent and outcome: the write may have been done. The journal ends with the
//     Intent; the next Run executes the step again, finds ErrAlready or does it, and Undo
//     treats it as done;
//   - between two steps: every finished step is final, and the order of steps (see
//     planner.Make) keeps IPAM safe at every such point. The next Run skips steps with outcome
//     Done and continues.
//   - during an undo of 4: the next Run drops findings with an undo step that is Done, does
//     not repair them again, and continues their undo.
type Executor struct {
	Calico     Store // blocks, handles, affinities, endpoints
	Kube       Store // pods; reads nodes, services and VMs
	Pods       Pods
	Nodes      Nodes
	NodeWriter NodeWriter  // nil: steps that change a node are refused
	Etcd       bool        // Calico's datastore is etcd
	MaxRisk    change.Risk // findings with a higher risk are dropped
	DryRun     bool        // the caller gives stores that write nothing; nothing is journalled

	Journal  func(repair.Entry) error        // must return only when the entry is on disk
	Halt     func(ctx context.Context) error // called before every write; an error stops the run (stop ConfigMap, lease)
	Now      func() time.Time                // time of the API server
	Sleep    func(context.Context, time.Duration) error
	Budget   Budget
	Progress func(Progress) // may be nil
	Parallel int            // how many nodes are asked at a time; 0: one

	plan        *repair.Plan              // passed Valid, or made by repair.Undo
	targets     map[string]*repair.Target // by key
	last        map[string]int            // by finding: index of its last step in plan.Steps
	entries     []repair.Entry            // of past runs and this one, in order: what the journal holds
	dropped     map[string]Verdict        // findings that are no longer repaired; the first reason stays
	written     map[string]bool           // findings for which a write was or may have been done; superset of those to undo
	rolls       map[string]*nodeAnswers   // by node: full verification, valid for allNodesFor
	rolled      *users                    // who uses what, by rolls; nil: not yet computed
	names       map[string]*nodeName      // by node: what Calico there calls it
	named       *users                    // who uses what, by what nodes said with their names; nil: not yet computed
	listed      []string                  // all nodes, as of listedAt
	exists      map[string]bool           // the same nodes
	counted     counted
	asks        int             // how often nodes were asked so far
	excused     map[string]bool // nodes that are out of service and silent, as read for the write in hand
	spent       spending
	listedAt    time.Time
	othersReady bool          // before the first restart: every other calico-node
	stuck       string        // why no further pod is restarted
	evicted     *model.Object // the last pod that was evicted, which may still terminate
	waited      int           // repeated verifications beyond patience
	failing     int           // steps in a row that gave up; a successful write resets it
	undoing     bool          // this is the copy that compensate makes: entries get Undo, close does nothing
}

// maxTries is how often a step starts again when other writers are first. maxFailing is the
// number of failed steps in a row that ends the run with errTooMany.
const (
	maxTries   = 12
	maxFailing = 3
)

// Run executes the plan. past are the journal entries of earlier runs of the same plan: Run
// continues after them. An error means that the run ended before the plan did; the Result is
// then complete for the steps that were done.
func (x *Executor) Run(ctx context.Context, p *repair.Plan, past []repair.Entry) (Result, error) {
	if err := p.Valid(); err != nil {
		return Result{}, err
	}
	x.read(p)
	x.entries = slices.Clone(past)
	x.dropped, x.written, x.rolls = map[string]Verdict{}, map[string]bool{}, map[string]*nodeAnswers{}
	x.listed = nil
	res := Result{Steps: map[int]Verdict{}, Findings: map[string]Verdict{}}
	done := x.recall(past)
	x.othersReady, x.stuck = false, ""
	x.recallEvictions(past)
	x.refuseRisks()
	for i := range p.Steps {
		s := &p.Steps[i]
		var v Verdict
		var err error
		if done[s.ID] {
			v, err = Verdict{Outcome: repair.Done, Why: "done in an earlier run"}, x.recheck(ctx, s)
		} else {
			v, err = x.step(ctx, s)
		}
		if err != nil {
			res.Steps[s.ID] = Verdict{repair.Failed, err.Error()}
			return x.finish(res), fmt.Errorf("step %d, %s: %w", s.ID, s.On, err)
		}
		res.Steps[s.ID] = v
		x.report(Progress{Step: s, N: i + 1, Of: len(p.Steps), Outcome: v.Outcome, Why: v.Why})
		if err := x.close(ctx, i); err != nil {
			return x.finish(res), err
		}
	}
	return x.finish(res), nil
}

// read indexes the plan: there may be tens of thousands of findings.
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

// recall reads the entries of past runs. It returns the steps that are Done, marks findings
// for which a write was or may have been done (an Intent without an outcome that excludes
// it), and drops findings that were undone or that a Done step left out.
func (x *Executor) recall(past []repair.Entry) map[int]bool {
	// open: findings of a step's newest Intent. void: the newest entry says that nothing was written.
	done, open, void := map[int]bool{}, map[int][]string{}, map[int]bool{}
	for _, e := range past {
		if e.Undo && e.Outcome == repair.Done {
			for _, f := range e.For {
				x.drop(f, repair.Failed, "it was undone in an earlier run")
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
		default: // Already, Moved: the object may have that state because of our write
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

// dropOthers drops the findings of a Done step that its write did not serve.
func (x *Executor) dropOthers(e repair.Entry) {
	i := e.Step - 1 // in a valid plan the ID is 1 + index
	if i >= len(x.plan.Steps) || x.plan.Steps[i].Always || len(e.For) == 0 {
		return
	}
	for _, f := range x.plan.Steps[i].For {
		if !slices.Contains(e.For, f) {
			x.drop(f, repair.Moved, "an earlier run did not repair it")
		}
	}
}

func (x *Executor) wrote(findings []string) {
	for _, f := range findings {
		x.written[f] = true
	}
}

// refuseRisks drops findings with a higher risk than MaxRisk.
func (x *Executor) refuseRisks() {
	for i := range x.plan.Targets {
		if t := &x.plan.Targets[i]; t.Risk.Level() > x.MaxRisk.Level() {
			x.drop(t.Finding, repair.Refused, fmt.Sprintf("its risk is %s, above --max-risk=%s", t.Risk, x.MaxRisk))
		}
	}
}

// step executes one step unless it is idle. An error ends the run.
func (x *Executor) step(ctx context.Context, s *repair.Step) (Verdict, error) {
	if why, skip := x.idle(s); skip {
		return Verdict{repair.Moved, why}, nil
	}
	switch c := s.Change.(type) {
	case *change.Await:
		return x.await(ctx, s, c)
	case *change.OnNode:
		return x.onNode(ctx, s, c)
	case *change.Evict:
		if v, err := x.lingers(ctx, s); err != nil || v.Outcome != "" {
			return v, err
		}
		return x.update(ctx, s)
	case *change.Restart:
		return x.restart(ctx, s, c)
	default:
		return x.update(ctx, s)
	}
}

// idle reports that a step has nothing to do: all its findings were dropped; or it has Always
// set and nothing was written for any of its findings.
func (x *Executor) idle(s *repair.Step) (string, bool) {
	why := "nothing was written for its findings"
	for _, f := range s.For {
		if s.Always && (x.written[f] || x.guarded(s)) {
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

// close finishes the findings whose last step is step i. For a finding with writes that is
// still repaired it verifies the proof once more. It undoes the writes of a finding that was
// dropped (its proof failed, or only a part could be done), except
//
//   - if the outcome is Unknown: without an answer from the node nothing is undone;
//   - if it was dropped as Moved and only releases: see onlyFrees.
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
				x.drop(f, repair.Failed, "verification after the repair failed: "+why)
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

// onlyFrees reports that the repair of a finding only releases. If an object changed during
// the repair (Moved), released addresses may already belong to others and are not allocated
// again; that happens only if verification shows that a container is in use after all.
func (x *Executor) onlyFrees(f string) bool {
	for i := range x.plan.Steps {
		s := &x.plan.Steps[i]
		if c, count := s.Change.(*change.Count); slices.Contains(s.For, f) && !s.Frees() && (!count || len(c.Raise) > 0) {
			return false
		}
	}
	return true
}

// again verifies the proof of a finding after its last write: the pod that received the
// record may be gone, or a container that was not in use may appear. It gives why the proof
// failed. Released addresses are not verified: they may correctly belong to others by now. If
// no answer comes, it drops the finding as Unknown, and nothing is undone.
func (x *Executor) again(ctx context.Context, t *repair.Target) (string, error) {
	p := change.Proof{Running: t.Proof.Running}
	if d := t.Proof.NotInUse; d != nil && len(d.Containers) > 0 && !d.Calm && !asksAllNodes(d) {
		p.NotInUse = &change.NotInUse{Containers: d.Containers, Nodes: d.Nodes, All: d.All, Absent: d.Absent}
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
		default: // no answer, or a CNI call in progress: no reason to undo
		}
		if err := x.Sleep(ctx, 2*time.Second); err != nil {
			return "", fmt.Errorf("%w: %w", errHalted, err)
		}
	}
	x.drop(t.Finding, repair.Unknown, "done, but not verified afterwards: "+v.Why)
	return "", nil
}

// finish fills Result.Findings: dropped findings with their reason; else Done if a step was
// done and something was written for the finding; else Already if a step found the wanted
// state; else Moved.
func (x *Executor) finish(res Result) Result {
	for f := range x.targets {
		res.Findings[f] = Verdict{repair.Moved, "nothing was left to do"}
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

// log appends an entry to x.entries and to the journal. When it returns nil the entry is on
// disk (not in a dry run).
func (x *Executor) log(e repair.Entry) error {
	e.At, e.Undo = model.At(x.Now()), x.undoing
	x.entries = append(x.entries, e)
	if x.DryRun {
		return nil
	}
	if err := x.Journal(e); err != nil {
		return fmt.Errorf("%w: %w", errJournal, err)
	}
	return nil
}
