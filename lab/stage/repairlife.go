package stage

import (
	"context"
	"fmt"
	"strings"
)

// A Life is the state of a pod that stays the same if nothing touched it.
type Life struct {
	UID, Address, Container, Sandbox string
	Restarts                         int
}

// Life returns it for a pod with one container.
func (s *Stage) Life(ctx context.Context, pod string) (Life, error) {
	var p bystander
	if err := s.Get(ctx, fmt.Sprintf("/api/v1/namespaces/%s/pods/%s", s.Namespace, pod), &p); err != nil {
		return Life{}, err
	}
	if len(p.Status.ContainerStatuses) != 1 {
		return Life{}, fmt.Errorf("pod %s has %d containers", pod, len(p.Status.ContainerStatuses))
	}
	node, err := s.NodeByName(ctx, p.Spec.NodeName)
	if err != nil {
		return Life{}, err
	}
	box, err := s.Sandbox(ctx, node, pod)
	if err != nil {
		return Life{}, err
	}
	c := p.Status.ContainerStatuses[0]
	return Life{p.Metadata.UID, p.Status.PodIP, c.ContainerID, box.ID, c.RestartCount}, nil
}

// Recorded requires that Calico's records of the pod have its own sandbox: the endpoint
// or the annotations, the allocation, and a handle that counts it.
func (s *Stage) Recorded(ctx context.Context, pod string) error {
	life, err := s.Life(ctx, pod)
	if err != nil {
		return err
	}
	p, err := s.Pod(ctx, s.Namespace, pod)
	if err != nil {
		return err
	}
	has, err := s.HasEndpoint(ctx, p)
	if err != nil {
		return err
	}
	owner, held, err := s.Owner(ctx, life.Address)
	if err != nil {
		return err
	}
	if err := Expect(has && held && strings.HasSuffix(owner.Handle, life.Sandbox) && owner.Secondary["pod"] == pod && owner.Secondary["node"] == p.Spec.NodeName,
		"%s recorded under sandbox %s, got endpoint %v, allocation %v of %v", pod, life.Sandbox, has, held, owner); err != nil {
		return err
	}
	handles, err := s.Handles(ctx)
	if err != nil {
		return err
	}
	for _, h := range handles {
		if h.ID == owner.Handle {
			n := 0
			for _, c := range h.Block {
				n += c
			}
			return Expect(n == 1, "a handle of %s that counts 1, got %v", pod, h.Block)
		}
	}
	return Expect(false, "a handle %s", owner.Handle)
}
