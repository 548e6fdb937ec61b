package host

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A process that waits for a disk is asked again, as that wait is usually short.
const (
	askAgain      = 5
	askAgainAfter = 20 * time.Millisecond
)

// CNICalls returns the running CNI calls. Without an error the list is complete: a process
// that could not be read is an error. A process in a PID namespace below the host's is
// never a CNI call, whatever its environment.
func (h *Host) CNICalls(ctx context.Context) ([]model.Process, error) {
	if err := h.procs.take(ctx); err != nil {
		return nil, err
	}
	defer h.procs.leave()
	for try := 1; ; try++ {
		out, unasked, err := h.cniCalls(ctx)
		if err != nil {
			return out, err
		}
		if len(unasked) == 0 {
			return out, nil
		}
		if try == askAgain {
			return out, fmt.Errorf("%w: processes that may be CNI calls: %s", observe.ErrPartial, strings.Join(unasked[:min(len(unasked), maxTold)], ", "))
		}
		select {
		case <-time.After(askAgainAfter):
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
}

func (h *Host) cniCalls(ctx context.Context) (out []model.Process, unasked []string, err error) {
	err = h.walk(ctx, few, func(p *process) {
		if h.nested(p) {
			return
		}
		who, err := h.identify(ctx, p)
		switch {
		case err != nil:
			unasked = append(unasked, fmt.Sprintf("%s pid %d", p.Name, p.ID))
		case who.cni() && (p.State != 'Z' || p.alive() != 0):
			r, _ := h.row(p, who, whyCNI) // its files are not reported
			out = append(out, r)
		}
	})
	return out, unasked, err
}
