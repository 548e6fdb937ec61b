package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

const maxRows = 1024

// readProcesses is one look at all processes.
func (h *Host) readProcesses(ctx context.Context, f *model.Facts) error {
	if err := h.procs.take(ctx); err != nil {
		return err
	}
	defer h.procs.leave()
	h.stuck.begin()
	alive := map[int]bool{}
	var unseen, more int
	var example error
	err := h.walk(ctx, every, func(p *process) {
		alive[p.id] = true
		who, err := h.identify(ctx, p)
		// One in D is told as such; what else it is, it says when it is out of it.
		if err != nil && !p.hung() && h.outermost(p) {
			unseen++
			example = err
		}
		why := h.stuckness(p)
		switch {
		case why != "":
		case who.cni():
			why = whyCNI
		case who.felix:
			why = whyFelix
		default:
			return
		}
		if len(f.Processes) == maxRows {
			more++
			return
		}
		f.Processes = append(f.Processes, h.row(p, who, why))
	})
	if err != nil {
		return err
	}
	h.forget(alive)
	switch {
	case more > 0:
		return fmt.Errorf("%w: %d more processes of interest", observe.ErrPartial, more)
	case unseen > 0:
		return fmt.Errorf("%w: %d processes may be CNI calls: %w", observe.ErrPartial, unseen, example)
	}
	return nil
}

// row tells all of a process that matters.
func (h *Host) row(p *process, who identity, why string) model.Process {
	dir := h.dir(p)
	own := filepath.Join(h.o.Proc, strconv.Itoa(p.id))
	o := readOwner(dir)
	r := model.Process{
		PID: p.id, Name: p.name, Why: why, State: string(p.state), Parent: p.parent,
		Waits: waitsIn(own), Init: readStatus(own).first, Container: o.container, PodUID: o.pod,
	}
	if who.cni() {
		r.Command, r.CNI = who.command, who.container
	}
	if why == whyZombie || why == whyUnkillable {
		r.Threads = h.toldThreads(p)
		r.Files = openMounts(dir)
	}
	if _, err := os.Readlink(own + "/ns/net"); err != nil {
		r.NSLinks = plain(err)
	}
	return r
}

// plain is an error without the path, which differs by where procfs is mounted.
func plain(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
