package detect

import (
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// callTime is how long a CNI call may take: the kubelet gives up on a sandbox after four
// minutes. One that is older hangs, and concerns only what it is for.
const callTime = 6 * time.Minute

// called tells that a CNI call for one of the sandboxes runs, however long.
func called(p *Pass, node string, sandboxes ...string) bool {
	for pr := range p.ProcessesOn(node) {
		if pr.Why == "cni" && pr.CNI != "" && slices.Contains(sandboxes, pr.CNI) {
			return true
		}
	}
	return false
}

// changing tells that the node may be making or taking down one of the sandboxes, or one
// that nobody knows yet: that is in no list, only its CNI call is, and that is young.
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
