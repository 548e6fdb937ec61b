package timeline

import (
	"strings"

	"plumbline.dev/plumbline/internal/cnierror"
)

// ofPlugin reports whether an error is of a CNI call, whatever the runtime and the kubelet put
// before it: the runtime itself did answer.
func ofPlugin(note string) bool {
	for _, words := range []string{"network for sandbox", "network for pod sandbox", "NetworkPlugin cni failed", "CNI network", "plugin type=", "pod network sandbox"} {
		if strings.Contains(note, words) {
			return true
		}
	}
	return false
}

// because gives ": REASON" for an error that is known, else nothing.
func because(note string) string {
	if r := cnierror.CauseOf(note).Says; r != "" {
		return ": " + r
	}
	return ""
}
