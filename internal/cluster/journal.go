package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"plumbline.dev/plumbline/internal/journal"
	"plumbline.dev/plumbline/internal/kube/write"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// Create begins the journal of the plan.
func (r *Run) Create() (err error) {
	if r.x.DryRun {
		return nil
	}
	r.journal, err = journal.Create(r.Cluster.o.StateDir, r.Plan.Cluster, r.Plan)
	if errors.Is(err, journal.ErrExists) {
		return fmt.Errorf("%w: if it was interrupted, run apply --resume %s", err, r.Plan.ID)
	}
	return err
}

// Resume takes up the journal of a plan that was interrupted.
func (r *Run) Resume(ctx context.Context, id string) error {
	guid, err := r.GUID(ctx)
	if err != nil {
		return err
	}
	state := r.Cluster.o.StateDir
	r.journal, err = journal.Open(state, guid, id)
	if err != nil {
		return err
	}
	r.Plan, r.past = r.journal.Plan(), r.journal.Entries()
	if _, _, err := journal.Read(state, guid, id+"-undo"); err == nil || journal.StateOf(r.past) == journal.Undone {
		return fmt.Errorf("plan %s was undone, or is being undone: plan again", id)
	}
	return nil
}

// Undo makes the plan that undoes another, and tells what it cannot undo.
func (r *Run) Undo(ctx context.Context, id string) error {
	p, es, err := r.pastOf(ctx, id)
	if err != nil {
		return err
	}
	r.Plan = repair.Undo(p, es, "")
	r.Plan.Made = model.At(r.x.Now())
	return nil
}

// TakeUp begins the journal of an undo plan, or goes on with one that was interrupted. One
// that came to its end is followed by another: the cluster has changed since.
func (r *Run) TakeUp() error {
	base := r.Plan.ID
	for n := 2; ; n++ {
		err := r.Create()
		if !errors.Is(err, journal.ErrExists) {
			return err
		}
		j, err := journal.Open(r.Cluster.o.StateDir, r.Plan.Cluster, r.Plan.ID)
		if err != nil {
			return err
		}
		if journal.StateOf(j.Entries()) != journal.Finished {
			r.journal, r.Plan, r.past = j, j.Plan(), j.Entries()
			return nil
		}
		if err := j.Close(); err != nil {
			return err
		}
		r.Plan.ID = fmt.Sprintf("%s%d", base, n)
	}
}

// Undone notes in the journal of a plan that it was undone, as far as it could be.
func (r *Run) Undone(id string) {
	if r.x.DryRun {
		return
	}
	j, err := journal.Open(r.Cluster.o.StateDir, r.Plan.Cluster, id)
	if err == nil {
		err = errors.Join(j.Append(repair.Entry{At: model.At(r.x.Now()), Step: journal.EntireUndo, Outcome: repair.Done}), j.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the journal of another machine is not here
		r.Cluster.o.Notice(fmt.Sprintf("the journal of %s does not record that it was undone: %v", id, err))
	}
}

// pastOf finds what was done by a plan: on this machine, or in the copy in the cluster.
func (r *Run) pastOf(ctx context.Context, id string) (*repair.Plan, []repair.Entry, error) {
	guid, err := r.GUID(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, es, err := journal.Read(r.Cluster.o.StateDir, guid, id)
	if err == nil {
		return p, es, nil
	}
	chunks, err2 := write.JournalMaps{Writer: r.writer}.Read(ctx, id)
	if err2 != nil || len(chunks) == 0 {
		return nil, nil, errors.Join(fmt.Errorf("plan %s: %w", id, err), err2)
	}
	return journal.FromChunks(chunks)
}

// append writes an entry; the executor writes nothing else before it returns.
func (r *Run) append(e repair.Entry) error {
	if r.journal == nil {
		return errors.New("there is no journal")
	}
	return r.journal.Append(e)
}

func (r *Run) copyJournal(ctx context.Context) {
	if !r.o.Copy || r.journal == nil {
		return
	}
	chunks, err := journal.Chunks(r.journal)
	if err == nil {
		err = write.JournalMaps{Writer: r.writer}.Put(ctx, r.Plan.ID, chunks)
	}
	if err != nil {
		r.Cluster.o.Notice(fmt.Sprintf("the journal could not be copied into the cluster: %v", err))
	}
	if n, err := (write.JournalMaps{Writer: r.writer}).Prune(ctx, r.x.Now().Add(-copyFor)); err != nil {
		r.Cluster.o.Notice(err.Error())
	} else if n > 0 {
		r.Cluster.o.Notice(fmt.Sprintf("%d copies of journals in the cluster were older than %d days and are removed", n, int(copyFor.Hours()/24)))
	}
}

// copyFor is how long the copy of a journal stays in the cluster. After that nobody undoes it: the
// cluster has changed too much.
const copyFor = 30 * 24 * time.Hour
