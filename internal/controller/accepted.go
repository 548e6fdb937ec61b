package controller

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/controller/objects"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/kube/own"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// readAgain is how often suppressions are read.
const readAgain = 20 * time.Second

// accepted has the findings that people accept. What cannot be read holds as it was; what was never read hides
// nothing.
type accepted struct {
	store *own.Store
	log   *slog.Logger
	more  int // that were not read; of read alone

	mu     sync.Mutex
	known  bool // they were read once
	hold   []audit.Suppression
	answer []v1alpha1.Suppression // whose status is not what it should be
}

// list gives those that hold.
func (a *accepted) list() []audit.Suppression {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.hold
}

// judge completes a report: whether a suppression has expired is not known before they were read.
func (a *accepted) judge(r *audit.Report) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.known {
		r.Skipped = append(r.Skipped, detect.Skip{Code: finding.PL9004, Why: "suppressions were not read"})
	}
}

// run reads them again and again until ctx ends.
func (a *accepted) run(ctx context.Context) {
	said := ""
	for observe.Wait(ctx, readAgain) == nil {
		err := a.read(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			said = ""
		case err.Error() != said: // once, not every time
			said = err.Error()
			a.log.Warn("suppressions not read: those that are known hold", "error", err)
		}
	}
}

// read reads them once. Where their CRD is not installed there are none.
func (a *accepted) read(ctx context.Context) error {
	all, more, err := a.store.Suppressions(ctx)
	if err != nil && !errors.Is(err, observe.ErrNotThere) {
		return err
	}
	if more != a.more {
		a.log.Warn("suppressions not read: there are too many, or they are not understood", "count", more)
		a.more = more
	}
	hold, answer := objects.Accepted(all, model.At(time.Now())) //nolint:forbidigo // for people; what holds is judged by the time of the report
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hold, a.answer, a.known = hold, answer, true
	return nil
}

// answerNext writes the status of one suppression, and reports whether there was one. What fails is tried again
// when they are read again.
func (a *accepted) answerNext(ctx context.Context) bool {
	a.mu.Lock()
	if len(a.answer) == 0 {
		a.mu.Unlock()
		return false
	}
	one := a.answer[0]
	a.answer = a.answer[1:]
	a.mu.Unlock()
	if err := a.store.Answer(ctx, &one); err != nil && ctx.Err() == nil {
		a.log.Warn("status of a suppression not written", "suppression", one.Name, "error", err)
	}
	return true
}
