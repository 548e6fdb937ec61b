package latedel

import (
	"context"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Guarded is the same incident on nodes with the guard in mode enforce: late DELs arrive
// repeatedly and release nothing. It is not in the list of scenarios, because those run
// without the product.
var Guarded = stage.Scenario{
	Name: "late-del-guarded", Title: "late-del with the guard: nothing is lost",
	Nodes: 2, Modes: stage.Both, Run: guarded,
}

// quiet is how long no DEL may fail: the kubelet retries after about ten seconds.
const quiet = 35 * time.Second

func guarded(ctx context.Context, s *stage.Stage) error {
	harm, err := stage.NewHarm(ctx, s.Lab, s.Tell)
	if err != nil {
		return err
	}
	node, old, second, err := acts(ctx, s, replaceHanging)
	if err != nil {
		return err
	}
	name := second.Metadata.Name
	if err := s.Recorded(ctx, name); err != nil {
		return err
	}
	if err := harm.Start(ctx, nil); err != nil {
		return err
	}
	if err := torn(ctx, s, node, name, old); err != nil {
		return err
	}
	// The kubelet's DEL may arrive earlier or later; these arrive while the harm measurement
	// sends requests to the new pod.
	for range 5 {
		if _, err := node.CNI(ctx, lab.CNICall{Command: "DEL", ContainerID: old.ID, Namespace: s.Namespace, Pod: name}); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	s.Say("five more late DELs were run")
	if err := ends(ctx, s, node); err != nil {
		return err
	}
	if _, err := harm.Stop(ctx); err != nil {
		return err
	}
	if err := s.Recorded(ctx, name); err != nil {
		return err
	}
	s.Say("the new pod has its endpoint and address as before")
	return leaves(ctx, s, second)
}

// replaceHanging lets the kubelet's DEL fail for a while before another pod of the name
// exists: the retries must end.
func replaceHanging(ctx context.Context, s *stage.Stage, node *lab.Node, first lab.Pod) (lab.Pod, error) {
	scale := func(n string) error {
		_, err := s.Kubectl(ctx, "-n", s.Namespace, "scale", "statefulset", "etcd1", "--replicas="+n)
		return err
	}
	if err := scale("0"); err != nil {
		return lab.Pod{}, err
	}
	if err := failsAgain(ctx, node, 0); err != nil {
		return lab.Pod{}, err
	}
	s.Say("deleted, it stays in Terminating: its DEL fails on every retry")
	if err := s.ForceDelete(ctx, first.Metadata.Name); err != nil {
		return lab.Pod{}, err
	}
	if err := scale("1"); err != nil {
		return lab.Pod{}, err
	}
	second, err := s.WaitReady(ctx, first.Metadata.Name, first.Metadata.UID)
	if err != nil {
		return second, err
	}
	s.Say("deleted by force; the new etcd1-0 runs with %s", second.Status.PodIP)
	return second, nil
}

// torn waits until the old sandbox is removed: its DEL succeeded.
func torn(ctx context.Context, s *stage.Stage, node *lab.Node, pod string, old stage.Sandbox) error {
	began := time.Now()
	err := lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error {
		boxes, err := s.Sandboxes(ctx, node, pod)
		if err != nil {
			return err
		}
		return stage.Expect(len(boxes) == 1 && boxes[0].ID != old.ID, "the old sandbox %.12s to be removed, got %v", old.ID, boxes)
	})
	if err == nil {
		s.Say("after %.0f s the old sandbox is removed", time.Since(began).Seconds())
	}
	return err
}

// ends asserts that the kubelet's DEL no longer fails.
func ends(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	before, err := failed(ctx, node)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(quiet):
	}
	after, err := failed(ctx, node)
	if err != nil {
		return err
	}
	s.Say("a DEL had failed %d times; it no longer fails", before)
	return stage.Expect(after == before, "no further DEL to fail, %d did", after-before)
}

// leaves deletes the new pod normally and asserts that its address is then free.
func leaves(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
	if _, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "statefulset", "etcd1", "--wait=false"); err != nil {
		return err
	}
	if err := s.WaitGone(ctx, pod.Metadata.Name); err != nil {
		return err
	}
	_, held, err := s.Owner(ctx, pod.Status.PodIP)
	if err != nil {
		return err
	}
	return stage.Expect(!held, "%s to be free", pod.Status.PodIP)
}
