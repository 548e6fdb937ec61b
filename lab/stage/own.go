package stage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// Own gives a running pod a controller: a ReplicaSet, which adopts it and would replace
// it by another pod without the annotations of this one.
func (s *Stage) Own(ctx context.Context, p PodSpec) error {
	set := fmt.Sprintf(`apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: 1
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
%[3]s`, p.Name, s.Namespace, s.spec(p, "      "))
	if err := s.Apply(ctx, set); err != nil {
		return err
	}
	return lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		owner, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "pod", p.Name, "-o", "jsonpath={.metadata.ownerReferences[*].name}")
		if err != nil {
			return err
		}
		return Expect(strings.TrimSpace(owner) == p.Name, "the pod %s to be adopted, its owner is %q", p.Name, owner)
	})
}
