package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/kube/write"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// RunOptions say how a plan is carried out.
type RunOptions struct {
	DryRun  bool
	MaxRisk Risk
	Budget  execute.Budget
	Copy    bool // the journal into the cluster, so that another person can undo
	// AcceptVersion is why the user accepts to undo on a version of Calico that is not tested.
	AcceptVersion string
	Holder        string // who holds the lease, for whoever comes second
	Progress      func(execute.Progress)
}

// A Run is one run of apply or undo: it holds the right to write, the lease and the journal.
// Invariant: nothing is written before the plan fits the cluster as it is (Fits) and its
// journal is on the disk (Create, Open or TakeUp).
type Run struct {
	*Cluster
	Plan    *repair.Plan
	Skipped []repair.Refusal // what fell away since the plan was made

	o      RunOptions
	writer *write.Writer
	ids    *identities

	asRepairer bool // what is written is written as plumbline-repairer
	x          *execute.Executor
	past       []repair.Entry
	wants      map[string]bool    // the plan's findings
	about      map[model.Ref]bool // the pods and addresses that the plan's findings are about
	before     map[string]bool    // findings that were there by themselves before the first step, confirmed or not
	journal    *journal.Journal
	version    *rollout
	release    []func()
}

// OpenRun opens the cluster with the right to write, takes the lease and reads the kill
// switch.
func OpenRun(ctx context.Context, o Options, ro RunOptions) (*Run, error) {
	if o.StateDir == "" {
		return nil, errors.New("no place for a journal: set HOME or XDG_STATE_HOME")
	}
	c, err := Open(ctx, o.toWrite())
	if err != nil {
		return nil, err
	}
	r := &Run{Cluster: c, o: ro, release: []func(){c.Close}}
	if err := r.connectExecutor(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// toWrite are the options without an etcd that nobody named: the records of one cluster against the
// pods of another would all look leaked.
func (o Options) toWrite() Options {
	if o.EtcdFromEnv {
		o.EtcdFromEnv, o.Etcd = false, calico.EtcdOptions{}
	}
	return o
}

// JournalPath is where the journal of the run is on this machine.
func (r *Run) JournalPath() string { return r.journal.Path() }

// Close gives the lease back.
func (r *Run) Close() {
	if r.journal != nil {
		_ = r.journal.Close() // all of it is on the disk
	}
	for _, f := range slices.Backward(r.release) {
		f()
	}
}

// restoredAt is when it was noticed that a datastore had been restored; zero if it was not.
func restoredAt(r *audit.Report) (at model.Time) {
	for _, f := range slices.Concat(r.Findings, r.Suppressed, r.Folded) {
		if f.Code == finding.PL9006 {
			for _, e := range f.Evidence {
				at = max(at, e.Since)
			}
		}
	}
	return at
}

// Fits refuses a plan that is not for this cluster as it is: made for another cluster, or
// before this one was restored from a backup; while the datastore is locked; for a version of
// Calico on which repair is not tested. What is no longer found is left out of the plan.
// Resumed plans and undo plans are taken as they are.
func (r *Run) Fits(ctx context.Context, resumed bool) error {
	p := r.Plan
	now, err := r.Check(ctx, audit.Options{})
	if err != nil {
		return err
	}
	info := now.View.Info()
	schemas := r.schemas(ctx, info)
	version := planner.RefusedVersion(now.View, schemas, p)
	if reason := r.o.AcceptVersion; reason != "" && version != nil {
		p.Accepted = &repair.Accepted{Version: info.Calico, Reason: reason}
		version = planner.RefusedVersion(now.View, schemas, p)
	}
	r.version.calico, r.version.matters = info.Calico, p.Writes()
	switch {
	case info.GUID != p.Cluster:
		return fmt.Errorf("the plan is for cluster %s, and this is cluster %s", p.Cluster, info.GUID)
	case !info.Ready:
		return errors.New("the Calico datastore is locked (datastoreReady: false): wait for the migration to end, or unlock it")
	case version != nil && p.Writes():
		return fmt.Errorf("%s: %s", version.Why, version.Advice)
	case p.Writes() && planner.RefusedDatastore(now.View) != nil:
		no := planner.RefusedDatastore(now.View)
		return fmt.Errorf("%s: %s", no.Why, no.Advice)
	case len(now.MassChanges) > 0 && !p.MassChange && p.Undoes == "" && !resumed:
		return fmt.Errorf("%s; if you know why, plan again with --allow-mass-change", now.MassChanges[0])
	case len(p.Steps) == 0:
		return errors.New("the plan has no steps")
	}
	for _, c := range now.Gaps {
		if c.Node == "" {
			return fmt.Errorf("%s cannot be read: %s; nothing is repaired while a source is not read completely", c.Table, c.Reason)
		}
	}
	api, etcd := repair.Revisions(now.View)
	if older(api, p.KubeRevision) || older(etcd, p.EtcdRevision) {
		return errors.New("the cluster is older than the plan: it was restored from a backup; plan again")
	}
	if since := restoredAt(now); since > p.Made {
		return fmt.Errorf("the cluster was restored from a backup, noticed at %s, after the plan was made; plan again", since)
	}
	if p.Risk().Level() > r.o.MaxRisk.Level() {
		return fmt.Errorf("the risk of the plan is %s: pass --max-risk %s to allow it", p.Risk(), p.Risk())
	}
	r.wants = targetsOf(p)
	r.about = podsIn(now, r.wants)
	blind := unseen(now, p)
	if p.Undoes == "" && !resumed {
		r.before = r.unhidden(now)
		r.Skipped = p.Refresh(now.View, foundIn(now))
	}
	for i := range r.Skipped {
		if s := &r.Skipped[i]; blind && s.Why == repair.NotPresent {
			s.Why = repair.NotLooked
		}
	}
	switch {
	case len(p.Steps) > 0:
		return p.Valid()
	case r.LeftOut():
		return ErrNothingLeft
	}
	return ErrAllGone
}

// LeftOut reports whether something was skipped for another reason than that it is gone.
func (r *Run) LeftOut() bool {
	return slices.ContainsFunc(r.Skipped, func(s repair.Refusal) bool { return s.Why != repair.NotPresent })
}

// unhidden are the findings that have nothing to do with those of the plan. What these would explain if
// they were confirmed comes with them.
func (r *Run) unhidden(now *audit.Report) map[string]bool {
	out := map[string]bool{}
	for _, f := range slices.Concat(now.Findings, now.Unconfirmed) {
		d := detect.ByCode(f.Code)
		by := func(k string) bool {
			key, _ := finding.ParseKey(k)
			return d != nil && slices.Contains(d.ShadowedBy, key.Code)
		}
		hidden := slices.ContainsFunc(slices.Collect(maps.Keys(r.wants)), by) && slices.ContainsFunc(f.About, func(o model.Ref) bool { return r.about[o] })
		if !hidden {
			out[f.Key()] = true
		}
	}
	return out
}

// Why a plan is not begun: ErrNothingLeft if what is left of it cannot be done any more, ErrAllGone if
// none of its findings is there any more.
var (
	ErrNothingLeft = errors.New("nothing of the plan is left to do")
	ErrAllGone     = errors.New("none of the plan's findings is there any more")
)

// older tells that a revision is smaller than another that was seen before.
func older(now, before string) bool {
	n, err1 := strconv.ParseUint(now, 10, 64)
	b, err2 := strconv.ParseUint(before, 10, 64)
	return err1 == nil && err2 == nil && n < b
}

// foundIn tells whether a finding is there, confirmed or not, by itself or under another.
func foundIn(r *audit.Report) func(string) bool {
	there := map[string]bool{}
	for _, fs := range [][]finding.Finding{r.Findings, r.Unconfirmed, r.Suppressed} {
		for i := range fs {
			there[fs[i].Key()] = true
			for _, k := range fs[i].Explains {
				there[k] = true
			}
		}
	}
	return func(k string) bool { return there[k] }
}

// Execute carries out the plan and notes in the journal how it ended.
func (r *Run) Execute(ctx context.Context) (res execute.Result, took time.Duration, err error) {
	began := r.x.Now()
	res, err = r.x.Run(ctx, r.Plan, r.past)
	took = r.x.Now().Sub(began).Round(time.Second)
	if err != nil {
		r.end(repair.Failed, err.Error())
		r.copyJournal(context.WithoutCancel(ctx))
	}
	return res, took, err
}

func (r *Run) end(o repair.Outcome, why string) {
	if r.journal == nil || r.x.DryRun {
		return
	}
	if err := r.journal.Append(repair.Entry{At: model.At(r.x.Now()), Step: journal.EntirePlan, Outcome: o, Why: why}); err != nil {
		r.Cluster.o.Notice(fmt.Sprintf("the journal could not be closed: %v", err))
	}
}

// A Risk says how a repair may affect running pods.
type Risk = change.Risk

// A Budget limits the writes of a run, a second.
type Budget = execute.Budget

// A Progress is told after each step.
type Progress = execute.Progress

// A Result is what became of a plan.
type Result = execute.Result

// DefaultBudget is used where nothing is said.
var DefaultBudget = execute.Default
