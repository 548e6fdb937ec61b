package repair

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// ErrInvalid means that Plumbline did not make this plan, or that it was edited into
// something that it does not execute.
var ErrInvalid = errors.New("not a valid plan")

var planID = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// Valid rejects a plan that must not be executed. Plans are files and may come from anywhere,
// so Valid does not trust Make. If it returns nil:
//
//   - targets have unique keys; step IDs are 1..n in order; every step serves at least one
//     target and only targets, has exactly one change, and its object has the matching kind;
//   - a release of an address has a NotInUse proof with that address and its container;
//   - a transfer of an address to a new owner has a Running proof with that address;
//   - an endpoint is deleted with a NotInUse proof of its sandbox, or with a Running proof if
//     the running pod keeps another endpoint; it is created with a Running proof;
//   - an annotation is written with a Running proof and cleared with a NotInUse proof of its
//     sandbox;
//   - an eviction names the pod, its sandbox, and for every address the handle that keeps it;
//   - a change on a node is a known verb with the proof that it needs;
//   - the risk of a target is at least the risk of its steps.
func (p *Plan) Valid() error {
	if !planID.MatchString(p.ID) || !planID.MatchString(p.Cluster) {
		return fmt.Errorf("%w: id or cluster is missing or malformed", ErrInvalid)
	}
	targets := map[string]*Target{}
	for i := range p.Targets {
		t := &p.Targets[i]
		if targets[t.Finding] != nil || t.Finding == "" {
			return fmt.Errorf("%w: finding %q is empty or listed twice", ErrInvalid, t.Finding)
		}
		targets[t.Finding] = t
	}
	steps := p.stepsFor()
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.ID != i+1 {
			return fmt.Errorf("%w: step %d has id %d", ErrInvalid, i+1, s.ID)
		}
		if err := s.valid(targets, p.Undoes != ""); err != nil {
			return fmt.Errorf("%w: step %d: %w", ErrInvalid, s.ID, err)
		}
		if s.Always && p.Undoes == "" && !s.recountsTaken(steps) {
			return fmt.Errorf("%w: step %d: it recounts a handle from which no step takes an address", ErrInvalid, s.ID)
		}
	}
	return nil
}

// recountsTaken reports that a step for a finding of this one takes an address from the handle that
// it recounts, or evicts the pod of the handle.
func (s *Step) recountsTaken(steps map[string][]*Step) bool {
	return slices.ContainsFunc(s.For, func(f string) bool {
		return slices.ContainsFunc(steps[f], func(t *Step) bool { return t.takesFrom(s.On.Name) })
	})
}

// takesFrom reports that the step takes an address from a handle, or evicts its pod.
func (s *Step) takesFrom(handle string) bool {
	switch c := s.Change.(type) {
	case change.Ordinals:
		return slices.ContainsFunc(c, func(o change.Ordinal) bool {
			return o.From != nil && model.HandleKey(o.From.Handle) == model.HandleKey(handle)
		})
	case *change.Evict:
		return c.Has.Container != "" && model.ContainerOf(handle) == c.Has.Container
	default:
		return false
	}
}

func (s *Step) valid(targets map[string]*Target, undo bool) error {
	if len(s.For) == 0 {
		return errors.New("it serves no finding")
	}
	for _, f := range s.For {
		if targets[f] == nil {
			return fmt.Errorf("it serves %q, which is not a target", f)
		}
	}
	if s.Change == nil {
		return errors.New("it has 0 changes, not 1")
	}
	if kind := s.Change.Kind(); kind != "" && s.On.Kind != kind {
		return fmt.Errorf("it changes a %s, but its object is a %s", kind, s.On.Kind)
	}
	if _, count := s.Change.(*change.Count); s.Always && !count {
		return errors.New("always is only allowed for a recount")
	}
	return s.proven(targets, undo)
}

// proven returns an error if a target does not have the risk or the proof that the change needs.
func (s *Step) proven(targets map[string]*Target, undo bool) error {
	u := change.Use{On: s.On, For: s.For, Always: s.Always, Undo: undo, Proofs: map[string]*change.Proof{}}
	least := s.Change.LeastRisk()
	for _, f := range s.For {
		t := targets[f]
		if t.Risk.Level() < least.Level() {
			return fmt.Errorf("its risk is at least %s, but the target has risk %s", least, t.Risk)
		}
		u.Proofs[f] = &t.Proof
	}
	return s.Change.Validate(u)
}
