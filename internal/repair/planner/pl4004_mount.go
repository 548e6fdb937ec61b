package planner

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
)

// planMount ends a hung mount. Only FUSE has a way to do that without effect on the kernel
// and on other mounts: abort the connection.
func planMount(b *builder, f *finding.Finding) *repair.Refusal {
	m := b.unresponsiveMount(f.Subject.Name, "")
	if m == nil {
		return &repair.Refusal{Why: "the mount is gone, or answers, or several mounts of that name hang", Advice: "run plumbline check again; plan PL4001 of a pod that it blocks"}
	}
	return b.abortMount(f, m)
}
