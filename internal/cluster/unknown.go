package cluster

import (
	"fmt"

	"plumbline.dev/plumbline/internal/model"
)

// UnknownNames refuses a node or namespace that nothing in the cluster has: a typo must not look healthy.
// Found is how many findings are about them; what has findings is or was there.
func UnknownNames(v *model.View, bundle bool, node, namespace string, found int) error {
	if node != "" && v.State(model.Nodes, "").Seen() {
		switch n := v.NodeByName(node); {
		case n != nil && n.Name != node:
			return fmt.Errorf("--node %s: Kubernetes calls it %s", node, n.Name)
		case n == nil && found == 0:
			return fmt.Errorf("--node %s: no such node", node)
		}
	}
	if namespace == "" || !bundle || !v.State(model.Pods, "").Seen() || found > 0 {
		return nil // a cluster is asked whether it has the namespace
	}
	s := v.Snapshot()
	for i := range s.Pods {
		if s.Pods[i].Namespace == namespace {
			return nil
		}
	}
	return fmt.Errorf("-n %s: no pod is in this namespace, so nothing was checked", namespace)
}
