package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const maxRows = 1024

// readProcesses reads all processes once.
func (h *Host) readProcesses(ctx context.Context, f *model.NodeState) error {
	if err := h.procs.take(ctx); err != nil {
		return err
	}
	defer h.procs.leave()
	h.stuck.begin()
	alive := map[int]bool{}
	rows := processRows{h: h, f: f}
	var it *process // Felix
	err := h.hostFirst(ctx, func(p *process) {
		alive[p.ID] = true
		who, err := h.identify(ctx, p)
		// A process in state D is reported as such; what else it is, is read when it has
		// left that state.
		if err != nil && !p.hung() && !h.nested(p) {
			rows.unseen++
			rows.example = err
		}
		why := h.stuckness(p)
		switch {
		case why != "":
			rows.add(p, who, why)
		case who.cni():
			rows.add(p, who, whyCNI)
		case who.isFelix && p.State != 'Z' && older(p, it):
			it = p
		}
	})
	if err != nil {
		return err
	}
	if it != nil {
		rows.add(it, identity{}, whyFelix)
	}
	slices.SortFunc(f.Processes, func(a, b model.Process) int { return cmp.Compare(a.PID, b.PID) })
	h.forget(alive)
	return rows.partial()
}

// processRows collects the rows of a read, and what it could not read.
type processRows struct {
	h *Host
	f *model.NodeState

	more            int // processes of interest beyond maxRows
	unseen, denied  int // processes that may be CNI calls; processes whose open files are denied
	example, denial error
}

func (r *processRows) add(p *process, who identity, why string) {
	if len(r.f.Processes) == maxRows {
		r.more++
		return
	}
	row, err := r.h.row(p, who, why)
	if err != nil {
		r.denied++
		r.denial = err
	}
	r.f.Processes = append(r.f.Processes, row)
}

func (r *processRows) partial() (err error) {
	if r.more > 0 {
		err = fmt.Errorf("%w: %d more processes of interest", observe.ErrPartial, r.more)
	}
	if r.unseen > 0 {
		err = also(err, fmt.Errorf("%w: %d processes may be CNI calls: %w", observe.ErrPartial, r.unseen, r.example))
	}
	if r.denied > 0 {
		err = also(err, fmt.Errorf("%w: the open files of %d processes cannot be read: %w", observe.ErrPartial, r.denied, r.denial))
	}
	return err
}

// row returns everything that matters of a process. The error reports that its files cannot
// be read.
func (h *Host) row(p *process, who identity, why string) (model.Process, error) {
	dir := h.dir(p)
	own := filepath.Join(h.o.Proc, strconv.Itoa(p.ID))
	o := readOwner(dir)
	r := model.Process{
		PID: p.ID, Name: p.Name, Why: why, State: string(p.State), Parent: p.Parent,
		Waits: waitsIn(own), Init: readStatus(own).first, Container: o.container, PodUID: o.pod,
	}
	var denial error
	if who.cni() {
		r.Command, r.CNI, r.Pod = who.command, who.container, who.pod
	}
	if why == whyZombie || why == whyUnkillable {
		r.Threads = h.toldThreads(p)
		r.Files, denial = openMounts(dir)
	}
	if _, err := os.Readlink(own + "/ns/net"); err != nil {
		r.NSLinks = plain(err)
	}
	return r, denial
}

// plain is an error without the path, which depends on where procfs is mounted.
func plain(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
