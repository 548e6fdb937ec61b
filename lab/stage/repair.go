package stage

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// ErrRepaired ends an incident that was repaired: what would have followed does not happen.
var ErrRepaired = errors.New("repaired")

// A Repair is how an incident is ended by the product.
type Repair struct {
	Bin    string // plumbline
	State  string // directory of its journals
	Settle time.Duration
	Moment string   // at which it is repaired; empty: the first
	Risk   string   // --max-risk
	Args   []string // of plan, besides
	Left   []string // findings that no repair is expected to end
	Harm   *Harm    // measures meanwhile, if there is one
	Folded []string // findings that others explain: their pods are not healthy either
	// Before and After surround the repair.
	Before, After func(ctx context.Context, s *Stage) error

	plans []string // that were applied
}

// Plans gives the names of the plans that were applied, in order.
func (r *Repair) Plans() []string { return r.plans }

// Checker checks every moment, and repairs at one.
func (r *Repair) Checker() Checker {
	check := NewChecker(r.Bin, r.State, r.Settle)
	return func(ctx context.Context, s *Stage, moment string, want []string) error {
		if err := check(ctx, s, moment, want); err != nil {
			return err
		}
		if len(want) == 0 || r.Moment != "" && r.Moment != moment {
			return nil
		}
		if err := r.run(ctx, s, want); err != nil {
			return err
		}
		return ErrRepaired
	}
}

func (r *Repair) run(ctx context.Context, s *Stage, found []string) error {
	if r.Before != nil {
		if err := r.Before(ctx, s); err != nil {
			return err
		}
	}
	err := r.Unharmed(ctx, slices.Concat(found, r.Folded), func(ctx context.Context) error { return r.All(ctx, s) })
	if err == nil && r.After != nil {
		err = r.After(ctx, s)
	}
	return err
}

// Unharmed does f while the healthy pods are asked, where that is measured.
func (r *Repair) Unharmed(ctx context.Context, found []string, f func(context.Context) error) error {
	if r.Harm == nil {
		return f(ctx)
	}
	if err := r.Harm.Start(ctx, found); err != nil {
		return err
	}
	err := f(ctx)
	_, harm := r.Harm.Stop(ctx)
	return errors.Join(err, harm)
}

// All repairs what there is. What explains another is repaired first; the other is
// judged by itself then.
func (r *Repair) All(ctx context.Context, s *Stage) error {
	for round := range 3 {
		left, err := r.round(ctx, s)
		if err != nil {
			return err
		}
		if !left && round > 0 {
			break
		}
	}
	return r.Clean(ctx, s.Lab)
}

// Plan makes a plan and gives its file and name; none if there is nothing to do.
func (r *Repair) Plan(ctx context.Context, s *Stage) (file, id string, err error) {
	file = filepath.Join(r.State, fmt.Sprintf("plan-%d.yaml", time.Now().UnixNano()))
	args := append([]string{"plan", "--settle=" + r.Settle.String(), "--save=" + file}, r.Args...)
	out, code, err := Plumbline(ctx, s.Lab, r.Bin, r.State, args...)
	s.Say("plan says (exit code %d)\n%s", code, out)
	if id = planOf(out); err != nil || code != 0 || id == "" {
		return "", "", err
	}
	return file, id, nil
}

// round plans and applies once; it tells whether there was anything to do.
func (r *Repair) round(ctx context.Context, s *Stage) (bool, error) {
	time.Sleep(r.Settle) // what the last round brought to light must have lasted too
	file, id, err := r.Plan(ctx, s)
	if err != nil || file == "" {
		return false, err
	}
	r.plans = append(r.plans, id)
	out, code, err := Plumbline(ctx, s.Lab, r.Bin, r.State, r.Apply("-f", file)...)
	s.Say("apply says (exit code %d)\n%s", code, out)
	return true, errors.Join(err, Expect(code == 0 || code == 1 && onlyLater(out), "everything repaired, got exit code %d", code))
}

// onlyLater tells that nothing is left but what was done and takes a moment to show.
func onlyLater(out string) bool {
	left, later := 0, 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "left ") {
			left++
			if strings.Contains(line, ": still found: ") {
				later++
			}
		}
	}
	return left > 0 && left == later
}

// Apply is the command line that carries out a plan.
func (r *Repair) Apply(args ...string) []string {
	risk := r.Risk
	if risk == "" {
		risk = "safe"
	}
	return append([]string{"apply", "--max-risk=" + risk}, args...)
}

// planOf reads the plan's name from what plan says first: "Plan NAME: …".
func planOf(out string) string {
	f := strings.Fields(out)
	if len(f) < 2 || f[0] != "Plan" {
		return ""
	}
	return strings.TrimSuffix(f[1], ":")
}

// Clean waits until check finds nothing but what is left on purpose.
func (r *Repair) Clean(ctx context.Context, l *lab.Lab) error {
	return lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error {
		seen, err := CheckWith(ctx, l, r.Bin, r.State, "--wait", "--settle="+r.Settle.String())
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(seen.Names(), func(name string) bool {
			return slices.ContainsFunc(r.Left, func(l string) bool { return strings.HasPrefix(name, l) })
		})
		return Expect(len(left) == 0, "nothing left, got %q", left)
	})
}
