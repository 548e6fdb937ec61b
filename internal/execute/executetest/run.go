package executetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
	"plumbline.dev/plumbline/internal/repair/planner"
)

// options say how a run goes.
type options struct {
	Faults []string // only these; none means all
	Mutant string   // a safety check that is removed: the run must then do harm for some seeds
	Calm   bool     // no other writers except those that the faults started
	Trace  bool
	Stats  *statistics // optional
}

// statistics count what happened over many runs.
type statistics struct {
	Runs, Planned, Steps, Writes, Crashes, Undone int
	Twice                                         int // runs in which a second Plumbline was at work
	Unseen                                        int // runs with harm on a machine that nothing shows
	Targets, Done, Refused                        map[finding.Code]int
}

// detectors are those whose findings the simulated world can have.
var detectors = []*detect.Detector{
	detect.PL1001, detect.PL1002, detect.PL1003, detect.PL1004, detect.PL1006, detect.PL1007, detect.PL1008,
	detect.PL2001, detect.PL2002, detect.PL2003, detect.PL2004, detect.PL2010, detect.PL3001, detect.PL5003, detect.PL5004,
}

// A run is one plan in one world.
type run struct {
	w       *world
	o       options
	mutant  mutant
	line    *line
	journal *journal
	plan    *repair.Plan
	result  execute.Result
	ended   error // why the last run of the plan ended early
	undone  bool

	bodies map[model.Ref]json.RawMessage // what a mutant remembers
	first  map[model.Ref]*row
}

// runSeed builds a cluster from the seed, injects faults, has Plumbline repair it while other
// writers are active and Plumbline crashes, and returns the first harm.
func runSeed(seed uint64, o options) error {
	_, err := play(seed, o)
	if err != nil {
		err = fmt.Errorf("seed %d: %w\nreplay: go test ./internal/execute/executetest -run TestSeed -seed=%d%s", seed, err, seed, o.flags())
	}
	return err
}

func (o *options) flags() string {
	s := ""
	if o.Mutant != "" {
		s += " -mutant=" + o.Mutant
	}
	for _, f := range o.Faults {
		s += " -fault=" + f
	}
	return s
}

func play(seed uint64, o options) (*run, error) {
	r := &run{w: newWorld(seed), o: o}
	w := r.w
	w.traced = o.Trace
	var err error
	if r.mutant, err = mutantOf(o.Mutant); err != nil {
		return r, err
	}
	if slices.ContainsFunc(o.Faults, func(name string) bool {
		return slices.ContainsFunc(machineFaults, func(f fault) bool { return f.name == name })
	}) {
		w.full = true
	}
	if w.full && w.own.IntN(3) == 0 {
		w.consent = change.Disruptive
	}
	w.build()
	w.breaks(1+w.pick(4), o.Faults)
	w.rate = []int{0, 60, 25, 12}[w.pick(4)]
	if o.Calm {
		w.rate = 0
	}
	w.ticks(w.pick(40))
	r.makePlan()
	if len(r.plan.Steps) == 0 {
		r.count()
		return r, w.broken
	}
	r.execute()
	if w.one(4) || r.mutant.undo {
		r.undo()
	}
	w.quiet()
	// What a second Plumbline broke off is no harm, but may be left: a count that is too high, or a
	// hold, which the next check finds (PL1006, PL1001).
	if w.broken == nil && !r.undone && w.others == 0 {
		r.left()
	}
	r.count()
	return r, w.broken
}

// makePlan checks twice, some minutes apart, and plans the findings that remain.
func (r *run) makePlan() {
	w := r.w
	skew := 0
	if w.rate > 0 {
		skew = w.pick(6)
	}
	var memory audit.Memory
	var report *audit.Report
	for range 2 {
		report = w.audit(skew, memory, r.mutant.sees)
		memory = report.Memory
		w.passes(time.Duration(3+w.pick(6)) * time.Minute)
	}
	r.plan = planner.Make(report.View, append(report.Findings, report.Unconfirmed...), planner.Options{
		ID: "sim", Made: w.time(), Version: "sim", IPAM: report.Calico.IPAM, MassChanges: report.MassChanges, AllowMassChange: true,
		PodJSON: w.podJSON, EndpointJSON: w.endpointJSON,
	})
	r.plan = asSaved(r.plan)
	r.mutant.plan(w, r.plan)
	renumber(r.plan)
	if w.traced {
		for _, f := range report.Findings {
			w.log("found %s: %s", f.Key(), f.Summary)
		}
		for _, f := range r.plan.Refused {
			w.log("refused %s: %s", f.Finding, f.Why)
		}
		for i := range r.plan.Steps {
			w.log("step %d: %s %s for %v", r.plan.Steps[i].ID, r.plan.Steps[i].Do, r.plan.Steps[i].On, r.plan.Steps[i].For)
		}
	}
}

func (w *world) detectors() []*detect.Detector {
	if w.full {
		return slices.Concat(detectors, machineDetectors)
	}
	return detectors
}

func (w *world) audit(skew int, memory audit.Memory, sees func(*model.Snapshot)) *audit.Report {
	s := w.snapshot(skew)
	sees(s)
	return audit.Judge(context.Background(), s, audit.Source{}, audit.Options{
		Detectors: w.detectors(), Settle: 2 * time.Minute, Recall: func(string) audit.Memory { return memory },
	})
}

// execute runs the plan until it is done: after every crash a new Plumbline continues from the
// journal.
func (r *run) execute() {
	r.w.began = true
	r.line = &line{w: r.w, flaky: r.w.one(2) && !r.o.Calm}
	r.journal = &journal{line: r.line}
	if r.w.one(4) && r.o.Mutant == "" {
		r.line.other = r.second
	}
	for life := range 4 {
		r.line.dead, r.w.deposed, r.line.writes, r.line.crash = false, false, 0, 0
		if life < 3 && r.w.one(2) {
			r.line.crash, r.line.after = 1+r.w.pick(1+2*len(r.plan.Steps)), r.w.one(2)
		}
		x := r.executor()
		r.result, r.ended = x.Run(context.Background(), r.plan, r.journal.entries)
		if s := r.o.Stats; s != nil {
			s.Writes += r.line.writes
		}
		r.w.log("the run ended: %v %+v", r.ended, r.result.Findings)
		if errors.Is(r.ended, repair.ErrInvalid) {
			r.w.harm("nothing was executed: %w", r.ended) // else the run would prove nothing
		}
		if r.ended == nil || r.w.broken != nil {
			return
		}
		if s := r.o.Stats; s != nil && r.line.dead {
			s.Crashes++
		}
		r.w.ticks(r.w.pick(60))
		if r.w.one(3) {
			r.w.passes(5 * time.Minute)
		}
	}
}

// second is another Plumbline that got the lease while this one was suspended, and carries out
// the same plan or one of its own. This one goes on with the write that it was about to do, and
// knows only before the next.
func (r *run) second() {
	w := r.w
	own := &run{w: w, o: r.o, mutant: r.mutant, line: &line{w: w, flaky: w.one(2)}, plan: asSaved(r.plan)}
	own.journal = &journal{line: own.line}
	if w.one(2) {
		own.makePlan()
	}
	w.log("another Plumbline executes %d steps", len(own.plan.Steps))
	if len(own.plan.Steps) > 0 {
		_, err := own.executor().Run(context.Background(), own.plan, nil)
		w.log("the other Plumbline ended: %v", err)
		w.others++
	}
}

func (r *run) executor() *execute.Executor {
	w := r.w
	return &execute.Executor{
		Calico: r.mutant.store(r, reach{r.line, w.calico}), Kube: r.mutant.store(r, reach{r.line, w.kube}), Pods: r.mutant.pods(reach{r.line, w.kube}),
		Nodes: r.mutant.nodes(asks{r.line, agents{w}}), NodeWriter: nodeWriter{r.line, &r.mutant}, Etcd: w.etcd, MaxRisk: w.consent,
		Journal: r.mutant.journal(r.journal),
		Halt: func(context.Context) error {
			if r.line.flaky && w.one(400) {
				return errors.New("stop requested")
			}
			if w.deposed {
				return errors.New("the lease was lost: another apply may run")
			}
			return nil
		},
		Now: func() time.Time { return w.clock() }, Budget: execute.Default,
		Sleep: func(_ context.Context, d time.Duration) error {
			if r.line.dead {
				return errCrashed
			}
			w.passes(d)
			return nil
		},
	}
}

// clock is Plumbline's: now and then it jumps.
func (w *world) clock() time.Time {
	t := w.time().Time().Add(time.Duration(w.now%second) * time.Millisecond)
	if w.rate > 0 && w.one(200) {
		return t.Add(time.Duration(w.pick(7200)-3600) * time.Second)
	}
	return t
}

// undo undoes the whole plan.
func (r *run) undo() {
	r.undone = true
	back := repair.Undo(r.plan, r.journal.entries, "")
	r.w.log("undo: %d steps", len(back.Steps))
	r.line.dead, r.w.deposed, r.line.writes, r.line.crash = false, false, 0, 0
	entries := r.journal
	r.journal = &journal{line: r.line}
	x := r.executor()
	if _, r.ended = x.Run(context.Background(), back, nil); errors.Is(r.ended, repair.ErrInvalid) {
		r.w.harm("nothing was undone: %w", r.ended)
	}
	r.journal = entries
}

func (r *run) count() {
	s := r.o.Stats
	if s == nil {
		return
	}
	if s.Targets == nil {
		s.Targets, s.Done, s.Refused = map[finding.Code]int{}, map[finding.Code]int{}, map[finding.Code]int{}
	}
	s.Runs++
	if r.w.unknown > 0 {
		s.Unseen++
	}
	if r.w.others > 0 {
		s.Twice++
	}
	if len(r.plan.Steps) > 0 {
		s.Planned++
	}
	s.Steps += len(r.plan.Steps)
	for i := range r.plan.Targets {
		f := r.plan.Targets[i].Finding
		s.Targets[finding.Code(f[:6])]++
		if r.result.Findings[f].Outcome == repair.Done {
			s.Done[finding.Code(f[:6])]++
		}
	}
	for _, f := range r.plan.Refused {
		s.Refused[finding.Code(f.Finding[:6])]++
	}
	if r.undone {
		s.Undone++
	}
}

// asSaved gives the plan as apply reads it from the file that plan has written.
func asSaved(p *repair.Plan) *repair.Plan {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	read := &repair.Plan{}
	if err := json.Unmarshal(b, read); err != nil {
		panic(err) // a kind of change that is written and not read
	}
	return read
}
