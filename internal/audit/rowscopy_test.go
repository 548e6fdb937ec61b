package audit_test

import (
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

var durations = []time.Duration{0, 0, time.Second, time.Minute, 10 * time.Minute}

// copied is a snapshot whose tables are its own: sealing sorts and writes on them. What is
// inside a row is replaced by those who change it, never written on.
func copied(s *model.Snapshot) *model.Snapshot {
	out := *s
	out.Coverage = slices.Clone(s.Coverage)
	out.Pods, out.Nodes, out.Services, out.VMs, out.Events = slices.Clone(s.Pods), slices.Clone(s.Nodes), slices.Clone(s.Services), slices.Clone(s.VMs), slices.Clone(s.Events)
	out.Pools, out.Components = slices.Clone(s.Pools), slices.Clone(s.Components)
	out.Blocks, out.Handles, out.Affinities = slices.Clone(s.Blocks), slices.Clone(s.Handles), slices.Clone(s.Affinities)
	out.Endpoints, out.Hosts = slices.Clone(s.Endpoints), slices.Clone(s.Hosts)
	return &out
}
