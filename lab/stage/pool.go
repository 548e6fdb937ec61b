package stage

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/lab"
)

// Pool creates an IP pool for pods that request it by name. In a small pool, a released
// address is the next to be assigned.
func (s *Stage) Pool(ctx context.Context, name, cidr string, blockSize int) error {
	spec := fmt.Sprintf(`{"cidr": %q, "blockSize": %d, "vxlanMode": "Always", "ipipMode": "Never", "natOutgoing": true, "nodeSelector": "!all()", "allowedUses": ["Workload"]}`, cidr, blockSize)
	group := "projectcalico.org/v3"
	if s.Datastore == lab.KDD {
		group = "crd.projectcalico.org/v1"
	}
	manifest := fmt.Sprintf(`{"apiVersion": %q, "kind": "IPPool", "metadata": {"name": %q}, "spec": %s}`, group, name, spec)
	s.Cleanup(func(ctx context.Context) error {
		_, err := s.Calicoctl(ctx, "delete", "ippool", name)
		return err
	})
	if s.Datastore == lab.KDD {
		return s.Apply(ctx, manifest)
	}
	return s.CalicoctlApply(ctx, manifest)
}

// FromPool requests an address of that pool from Calico.
func FromPool(name string) map[string]string {
	return map[string]string{"cni.projectcalico.org/ipv4pools": fmt.Sprintf("[%q]", name)}
}

// WithAddress requests that very address from Calico.
func WithAddress(ip string) map[string]string {
	return map[string]string{"cni.projectcalico.org/ipAddrs": fmt.Sprintf("[%q]", ip)}
}
