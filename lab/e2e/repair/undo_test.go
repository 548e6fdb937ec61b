//go:build e2e

package repair

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab/scenarios/churn"
	"plumbline.dev/plumbline/lab/stage"
)

// undone undoes every plan, the last first, while requests are sent to the healthy pods;
// undo must report the result for every finding. Then everything is repaired again.
func undone(ctx context.Context, s *stage.Stage, r *stage.Repair, churns bool) error {
	ended := make(chan error, 1)
	r.Churns = churns
	if churns {
		go func() {
			ended <- stage.Play(ctx, s.Lab, churn.Scenario, stage.Options{Tell: s.Tell, For: time.Minute, Keep: true})
		}()
	} else {
		ended <- nil
	}
	return errors.Join(takenBack(ctx, s, r), <-ended)
}

func takenBack(ctx context.Context, s *stage.Stage, r *stage.Repair) error {
	err := r.Unharmed(ctx, nil, func(ctx context.Context) error {
		for _, id := range slices.Backward(slices.Clone(r.Plans())) {
			out, code, err := stage.Plumbline(ctx, s.Lab, r.Bin, r.State, "undo", id, "--max-risk=destructive")
			s.Say("undo %s printed (exit code %d)\n%s", id, code, out)
			if err != nil {
				return err
			}
			if err := undoSays(out, code); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.Intact(ctx); err != nil {
		return err
	}
	return r.All(ctx, s)
}

// undoSays requires the reason for everything that was not undone, and exit code 0 only
// if everything was.
func undoSays(out string, code int) error {
	left := strings.Contains(out, "Refused ") || strings.Contains(out, "remains  ")
	switch code {
	case 0:
		return stage.Expect(strings.Contains(out, " done ") || strings.Contains(out, " already "), "an undo that reports what it reverted")
	case 1:
		return stage.Expect(left, "the reason why something was not reverted")
	default:
		return stage.Expect(false, "an undo that completes, got exit code %d", code)
	}
}
