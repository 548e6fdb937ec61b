package own

import (
	"context"

	"plumbline.dev/plumbline/api/v1alpha1"
)

// Suppressions gives what people accept, by name. How many more were not read is more than none only where somebody created
// ten times as many as hold.
func (s *Store) Suppressions(ctx context.Context) (all []v1alpha1.Suppression, more int, err error) {
	return list[v1alpha1.Suppression](ctx, s, suppressions, 10*v1alpha1.MaxSuppressions)
}

// Answer writes the status of a suppression, if it is unchanged since it was read.
func (s *Store) Answer(ctx context.Context, one *v1alpha1.Suppression) error {
	return s.setStatus(ctx, suppressions, one)
}

// Policies gives the repair policies, by name, and how many more were not read.
func (s *Store) Policies(ctx context.Context) (all []v1alpha1.RepairPolicy, more int, err error) {
	return list[v1alpha1.RepairPolicy](ctx, s, policies, 10*v1alpha1.MaxPolicies)
}

// SetPolicyStatus writes the status of a policy, if it is unchanged since it was read.
func (s *Store) SetPolicyStatus(ctx context.Context, p *v1alpha1.RepairPolicy) error {
	return s.setStatus(ctx, policies, p)
}
