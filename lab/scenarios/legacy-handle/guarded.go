package legacyhandle

import (
	"context"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Guarded is the same incident on nodes with the guard in mode enforce: the exited
// sandbox is garbage-collected, and the running one keeps its address.
var Guarded = stage.Scenario{
	Name: "legacy-handle-guarded", Title: "legacy-handle with the guard: nothing is lost",
	Nodes: 2, Modes: stage.Both, Run: guarded,
}

func guarded(ctx context.Context, s *stage.Stage) error {
	node, pod, old, err := acts(ctx, s)
	if err != nil {
		return err
	}
	ip, name := pod.Status.PodIP, pod.Metadata.Name
	began := time.Now()
	err = lab.Eventually(ctx, 4*time.Minute, func(ctx context.Context) error {
		kept, err := s.Kept(ctx, node, name, old.ID)
		if err != nil {
			return err
		}
		return stage.Expect(!kept, "the exited sandbox %.12s to be garbage-collected", old.ID)
	})
	if err != nil {
		return err
	}
	s.Say("after %.0f s the kubelet garbage-collected the exited sandbox", time.Since(began).Seconds())
	owner, held, err := s.Owner(ctx, ip)
	if err != nil {
		return err
	}
	if err := stage.Expect(held && owner.Handle == s.Namespace+"."+name, "%s allocated as before, got %v by %q", ip, held, owner.Handle); err != nil {
		return err
	}
	if err := s.Reaches(ctx, "peer", ip, name); err != nil {
		return err
	}
	if err := stage.NoProblems(ctx, s); err != nil {
		return err
	}
	s.Say("%s still belongs to the running pod", ip)
	return leaves(ctx, s, name, ip)
}

// leaves: the pod's own DEL releases the address, also with the old handle.
func leaves(ctx context.Context, s *stage.Stage, pod, ip string) error {
	if _, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "statefulset", "web", "--wait=false"); err != nil {
		return err
	}
	if err := s.WaitGone(ctx, pod); err != nil {
		return err
	}
	return lab.Eventually(ctx, time.Minute, func(ctx context.Context) error {
		_, held, err := s.Owner(ctx, ip)
		if err != nil {
			return err
		}
		if err := stage.Expect(!held, "%s to be free", ip); err != nil {
			return err
		}
		return stage.NoProblems(ctx, s)
	})
}
