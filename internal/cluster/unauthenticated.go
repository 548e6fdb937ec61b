package cluster

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"plumbline.dev/plumbline/internal/plain"
)

// unauthenticated notes the agents whose answers are used although their keys are not known.
type unauthenticated struct {
	mu       sync.Mutex
	nodes    []string
	why      error // of the first
	reported int
}

func (u *unauthenticated) note(node string, why error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.why == nil {
		u.why = why
	}
	if !slices.Contains(u.nodes, node) {
		u.nodes = append(u.nodes, node)
	}
}

// mostNamed bounds how many nodes a notice names.
const mostNamed = 5

// report writes a notice about them, unless it was written before.
func (u *unauthenticated) report(notice func(string)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := len(u.nodes)
	if n == u.reported {
		return
	}
	u.reported = n
	slices.Sort(u.nodes)
	names := strings.Join(u.nodes[:min(n, mostNamed)], ", ")
	if n > mostNamed {
		names += ", …"
	}
	notice(fmt.Sprintf("the answers of %s could not be authenticated (%s): whoever can redirect traffic to a node could have sent them: %v", plain.Count(n, "agent"), names, u.why))
}
