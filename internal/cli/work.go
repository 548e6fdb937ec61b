package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/calico"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// A work is one run of apply or undo: who may write, where it is journalled, and what was
// seen before.
type applyRun struct {
	g      *global
	f      applyFlags
	c      *cluster
	writer *kube.Writer
	x      *execute.Executor
	state  string

	plan    *repair.Plan
	past    []repair.Entry
	journal *journal.Journal
	before  *audit.Report
	gone    []repair.Refusal
	release []func()
}

// beginWork connects with the right to write, takes the lease, and asks the kill switch.
func (g *global) beginWork(ctx context.Context, f applyFlags) (*applyRun, error) {
	if err := f.valid(); err != nil {
		return nil, err
	}
	budget, err := budgetOf(f.budget)
	if err != nil {
		return nil, err
	}
	w := &applyRun{g: g, f: f}
	if w.state, err = g.stateDir(); err != nil {
		return nil, err
	}
	if w.c, err = g.connect(ctx); err != nil {
		return nil, err
	}
	w.release = append(w.release, w.c.close)
	if err := w.connectExecutor(ctx, budget); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// arm gives the executor its stores, verifier and hands.
func (w *applyRun) connectExecutor(ctx context.Context, budget execute.Budget) (err error) {
	if w.c.fleet == nil || w.c.fleet.without != "" {
		return errors.New("the nodes cannot be asked, and nothing is repaired without them: install the agents (docs/agent.md)")
	}
	if w.writer, err = w.c.client.Writer(); err != nil {
		return err
	}
	dry := w.f.dryRun == "server"
	stop := &kube.Switch{Stopped: w.writer.Stop}
	if err := stop.Ask(ctx); err != nil {
		return err
	}
	halt := stop.Ask
	if !dry {
		lease, err := w.writer.Acquire(ctx, holder(w.g))
		if err != nil {
			return err
		}
		w.release = append(w.release, func() {
			short, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_ = lease.Release(short) // it runs out by itself
		})
		halt = func(ctx context.Context) error {
			select {
			case <-lease.Lost():
				return errors.New("the lease was lost: another apply may run")
			default:
				return stop.Ask(ctx)
			}
		}
	}
	now := w.c.fleet.Now
	w.x = &execute.Executor{
		Kube: kube.PodStore{Writer: w.writer, DryRun: dry}, Nodes: w.c.verifier(), Etcd: w.c.etcd(),
		MaxRisk: repair.Risk(w.f.maxRisk), DryRun: dry, Journal: w.write, Halt: halt, Now: now, Sleep: wait, Budget: budget, Progress: w.progress,
	}
	if w.x.Calico, err = w.c.calicoStore(w.writer, dry); err != nil {
		return err
	}
	w.x.NodeWriter = w.c.nodeWriter()
	return nil
}

// holder tells whoever comes second who is at it.
func holder(g *global) string {
	host, _ := os.Hostname()
	user := g.Getenv("USER")
	if user == "" {
		user = "somebody"
	}
	return fmt.Sprintf("%s@%s (process %d)", user, host, os.Getpid())
}

// calicoStore is where Calico's records are written.
func (c *cluster) calicoStore(w *kube.Writer, dry bool) (execute.Store, error) {
	switch l := c.calicoSource.(type) {
	case *calico.Etcd:
		s := l.Store()
		s.DryRun = dry
		return s, nil
	case *calico.CRDs:
		s := l.Store(w)
		s.DryRun = dry
		return s, nil
	default:
		return nil, errors.New("this ledger cannot be written")
	}
}

// A verifier is the fleet, with every node that there is.
type verifier struct {
	*agent.Fleet
	c *cluster
}

func (c *cluster) verifier() execute.Nodes { return verifier{c.fleet.Fleet, c} }

// Names lists every node that could use an address, live.
func (n verifier) Names(ctx context.Context) ([]string, error) {
	var b model.Builder
	if _, err := (kube.Nodes{Client: n.c.client}).Collect(ctx, &b); err != nil {
		return nil, err
	}
	s := b.Snapshot()
	var out []string
	for i := range s.Nodes {
		if expectsAgent(&s.Nodes[i]) {
			out = append(out, s.Nodes[i].Name)
		}
	}
	return out, nil
}

func (w *applyRun) now() time.Time { return w.x.Now() }

// stateDir is where journals are kept, and what was suspected.
func (g *global) stateDir() (string, error) {
	dir := g.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home := g.Getenv("HOME")
		if home == "" {
			return "", errors.New("no place for a journal: set HOME or XDG_STATE_HOME")
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return dir, nil
}

// create begins the journal of a plan.
func (w *applyRun) create() (err error) {
	if w.x.DryRun {
		return nil
	}
	w.journal, err = journal.Create(w.state, w.plan.Cluster, w.plan)
	if errors.Is(err, journal.ErrExists) {
		return fmt.Errorf("%w: was it interrupted? %s apply --resume %s", err, w.g.prog, w.plan.ID)
	}
	return err
}

// open takes up the journal of a plan that was interrupted.
func (w *applyRun) open(ctx context.Context, id string) error {
	guid, err := w.c.guid(ctx)
	if err != nil {
		return err
	}
	w.journal, err = journal.Open(w.state, guid, id)
	if err != nil {
		return err
	}
	w.plan, w.past = w.journal.Plan(), w.journal.Entries()
	if _, _, err := journal.Read(w.state, guid, id+"-undo"); err == nil || journal.StateOf(w.past) == journal.Undone {
		return fmt.Errorf("plan %s was taken back, or is being: plan again", id)
	}
	return nil
}

func (w *applyRun) write(e repair.Entry) error {
	if w.journal == nil {
		return errors.New("there is none")
	}
	return w.journal.Append(e)
}

// note writes what became of the whole.
func (w *applyRun) note(step int, o repair.Outcome, why string) {
	if w.journal == nil || w.x.DryRun {
		return
	}
	if err := w.journal.Append(repair.Entry{At: model.At(w.now()), Step: step, Outcome: o, Why: why}); err != nil {
		fmt.Fprintf(w.g.Stderr, "the journal could not be closed: %v\n", err)
	}
}

// copyJournal puts the journal into the cluster, so that another person can undo.
func (w *applyRun) copyJournal(ctx context.Context) {
	if w.f.journal != "cluster" || w.journal == nil {
		return
	}
	chunks, err := journal.Chunks(w.journal)
	if err == nil {
		err = kube.JournalMaps{Writer: w.writer}.Put(ctx, w.plan.ID, chunks)
	}
	if err != nil {
		fmt.Fprintf(w.g.Stderr, "the journal could not be copied into the cluster: %v\n", err)
	}
}

func (w *applyRun) close() {
	if w.journal != nil {
		_ = w.journal.Close() // all of it is on the disk
	}
	for i := len(w.release) - 1; i >= 0; i-- {
		w.release[i]()
	}
}
