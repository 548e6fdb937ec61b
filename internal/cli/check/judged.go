package check

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

// never is what no detector looks at: a pod without findings may still be cut off by it.
const never = "network policies, firewall rules with conditions, single Services and DNS are never checked"

// judged says what was checked, where nothing was found: no findings say nothing about the rest.
func judged(r *audit.Report, f flags) string {
	var c cluster.Checked
	if f.by != nil {
		c = f.by.Checked
	} else {
		c = cluster.CheckedOf(r, f.namespace, f.node)
	}
	only := ""
	if len(f.codes) > 0 {
		only = " for " + strings.ToUpper(strings.Join(f.codes, ", ")) + " only"
	}
	if about := strings.TrimSpace(f.namespace + " " + f.node); f.by != nil && about != "" {
		only += " (shown: only about " + plain.Line(about) + ")"
	}
	if f.selector != "" {
		only += " (shown: only about pods with " + plain.Line(f.selector) + ")"
	}
	return fmt.Sprintf("Checked%s: %s, %s (%s with node state), %s; %s", only, plain.Count(c.Pods, "pod"), plain.Count(c.Nodes, "node"), plain.Thousands(c.Seen), plain.Count(c.Blocks, "block"), never)
}
