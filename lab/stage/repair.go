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
	"plumbline.dev/plumbline/lab/build"
)

// ErrRepaired ends an incident that was repaired: its later steps do not happen.
var ErrRepaired = errors.New("repaired")

// A Repair repairs an incident with the product.
type Repair struct {
	Bin    string // plumbline
	State  string // directory of its journals
	Settle time.Duration
	Moment string   // the moment at which it is repaired; empty: the first
	Risk   string   // --max-risk
	Args   []string // further arguments of plan
	Left   []string // findings that no repair is expected to resolve
	Harm   *Harm    // measures harm meanwhile, if set
	Folded []string // findings that are folded under others: their pods are not healthy either
	Churns bool     // pods start and end meanwhile: a finding of theirs may be gone between plan and apply
	// Before runs before the repair, After after it.
	Before, After func(ctx context.Context, s *Stage) error

	plans []string // names of the applied plans
}

// Plans returns the names of the plans that were applied, in order.
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

// Unharmed calls f while requests are sent to the healthy pods, if harm is measured.
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

// All repairs all findings. A finding that explains others is repaired first; then the
// others are checked by themselves.
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

// Plan creates a plan and returns its file and name; both are empty if there is nothing
// to do. It plans again where plan says so: agents report a CNI call for some seconds after
// its end.
func (r *Repair) Plan(ctx context.Context, s *Stage) (file, id string, err error) {
	for range 4 {
		file = filepath.Join(r.State, fmt.Sprintf("plan-%d.yaml", time.Now().UnixNano()))
		args := append([]string{"plan", "--settle=" + r.Settle.String(), "--save=" + file}, r.Args...)
		if s.Calico != build.CalicoVersions[0] { // it may not be proven yet
			args = append(args, "--accept-version=the matrix is being made")
		}
		out, code, err := Plumbline(ctx, s.Lab, r.Bin, r.State, args...)
		s.Say("plan printed (exit code %d)\n%s", code, out)
		if id = planOf(out); err != nil || code != 0 || id == "" {
			return "", "", err
		}
		if r.Churns || !strings.Contains(out, "plan again in a minute") {
			break
		}
		time.Sleep(5 * time.Second)
	}
	return file, id, nil
}

// round plans and applies once; it returns whether there was anything to do.
func (r *Repair) round(ctx context.Context, s *Stage) (bool, error) {
	time.Sleep(r.Settle) // findings that the last round exposed must persist for the minimum duration too
	file, id, err := r.Plan(ctx, s)
	if err != nil || file == "" {
		return false, err
	}
	out, code, err := Plumbline(ctx, s.Lab, r.Bin, r.State, r.Apply("-f", file)...)
	s.Say("apply printed (exit code %d)\n%s", code, out)
	if r.Churns && err != nil && strings.Contains(err.Error(), "nothing of the plan is left to do") {
		return true, nil // it is planned anew; Clean requires that nothing is left
	}
	r.plans = append(r.plans, id)
	return true, errors.Join(err, Expect(code == 0 || code == 1 && onlyLater(out), "everything repaired, got exit code %d", code))
}

// onlyLater returns whether every remaining finding was repaired but is still reported
// for a moment, or is one that the next round repairs.
func onlyLater(out string) bool {
	left, later := 0, 0
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "not yet ") {
			left, later = left+1, later+1
		}
		if strings.HasPrefix(line, "remains ") {
			left++
			if strings.Contains(line, ": still found after ") {
				later++
			}
		}
	}
	return left > 0 && left == later
}

// Apply returns the arguments that apply a plan.
func (r *Repair) Apply(args ...string) []string {
	risk := r.Risk
	if risk == "" {
		risk = "safe"
	}
	return append([]string{"apply", "--max-risk=" + risk}, args...)
}

// planOf reads the plan's name from the first line of plan: "Plan NAME: …".
func planOf(out string) string {
	f := strings.Fields(out)
	if len(f) < 2 || f[0] != "Plan" {
		return ""
	}
	return strings.TrimSuffix(f[1], ":")
}

// Clean waits until check reports nothing but what remains on purpose.
func (r *Repair) Clean(ctx context.Context, l *lab.Lab) error {
	return lab.Eventually(ctx, min(l.Scale(2*time.Minute), 12*time.Minute), func(ctx context.Context) error {
		seen, err := CheckWith(ctx, l, r.Bin, r.State, "--wait", "--settle="+r.Settle.String())
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(seen.Names(), func(name string) bool {
			return slices.ContainsFunc(r.Left, func(l string) bool { return strings.HasPrefix(name, l) })
		})
		return Expect(len(left) == 0, "no findings left, got %q", left)
	})
}
