package detect

import (
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// callTime is how long a CNI call may take: the kubelet gives up on a sandbox after four
// minutes. An older call hangs, and affects only the sandbox in its CNI_CONTAINERID.
const callTime = 6 * time.Minute

// called reports whether a CNI call for one of the sandboxes is in progress, of any age.
func called(p *Pass, node string, sandboxes ...string) bool {
	for pr := range p.ProcessesOn(node) {
		if pr.Why == "cni" && pr.CNI != "" && slices.Contains(sandboxes, pr.CNI) {
			return true
		}
	}
	return false
}

// changing reports whether the node may be creating or removing one of the sandboxes, or a
// sandbox that no list contains yet: of that one only a CNI call younger than callTime
// exists. It also reports true if the processes of the node were not read.
func changing(p *Pass, node string, sandboxes ...string) bool {
	if !p.Sees(node, model.Processes) || called(p, node, sandboxes...) {
		return true
	}
	for pr := range p.ProcessesOn(node) {
		if pr.Why == "cni" && (pr.Since.IsZero() || p.Now.Sub(pr.Since) < callTime) {
			return true
		}
	}
	return false
}
