package cluster

import "testing"

// Plans for mounts and sandboxes do not depend on Calico's version: its workloads are not read.
func TestSteadyWhereVersionsDoNotMatter(t *testing.T) {
	t.Parallel()
	if err := (&rollout{}).steady(t.Context()); err != nil {
		t.Error(err)
	}
}
