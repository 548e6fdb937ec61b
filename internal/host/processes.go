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
	var unseen, more, denied int
	var example, denial error
	tell := func(p *process, who identity, why string) {
		if len(f.Processes) == maxRows {
			more++
			return
		}
		r, err := h.row(p, who, why)
		if err != nil {
			denied++
			denial = err
		}
		f.Processes = append(f.Processes, r)
	}
	var it *process // Felix
	err := h.hostFirst(ctx, func(p *process) {
		alive[p.ID] = true
		who, err := h.identify(ctx, p)
		// A process in state D is reported as such; what else it is, is read when it has
		// left that state.
		if err != nil && !p.hung() && !h.nested(p) {
			unseen++
			example = err
		}
		why := h.stuckness(p)
		switch {
		case why != "":
			tell(p, who, why)
		case who.cni():
			tell(p, who, whyCNI)
		case who.isFelix && p.State != 'Z' && older(p, it):
			it = p
		}
	})
	if err != nil {
		return err
	}
	if it != nil {
		tell(it, identity{}, whyFelix)
	}
	slices.SortFunc(f.Processes, func(a, b model.Process) int { return cmp.Compare(a.PID, b.PID) })
	h.forget(alive)
	if more > 0 {
		err = fmt.Errorf("%w: %d more processes of interest", observe.ErrPartial, more)
	}
	if unseen > 0 {
		err = also(err, fmt.Errorf("%w: %d processes may be CNI calls: %w", observe.ErrPartial, unseen, example))
	}
	if denied > 0 {
		err = also(err, fmt.Errorf("%w: the open files of %d processes cannot be read: %w", observe.ErrPartial, denied, denial))
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
