package check

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
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

// unknownNames refuses names that nothing in the cluster has: a typo must not look healthy.
func unknownNames(sess *term.Session, r *audit.Report, f flags) error {
	v := r.View
	if f.node != "" && v.State(model.Nodes, "").Seen() {
		switch n := v.NodeByName(f.node); {
		case n != nil && n.Name != f.node:
			return fmt.Errorf("--node %s: Kubernetes calls it %s", f.node, n.Name)
		case n == nil && len(r.Findings)+len(r.Unconfirmed) == 0:
			return fmt.Errorf("--node %s: no such node", f.node)
		}
	}
	if f.namespace == "" || sess.Bundle == "" || !v.State(model.Pods, "").Seen() || len(r.Findings)+len(r.Unconfirmed)+len(r.Suppressed) > 0 {
		return nil // a cluster is asked whether it has the namespace
	}
	s := v.Snapshot()
	for i := range s.Pods {
		if s.Pods[i].Namespace == f.namespace {
			return nil
		}
	}
	return fmt.Errorf("-n %s: no pod is in this namespace, so nothing was checked", f.namespace)
}
