package latedel

import (
	"context"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Guarded is the same incident on nodes whose guard enforces: the late DEL comes, again
// and again, and takes nothing. It is no scenario of the list, which needs no product.
var Guarded = stage.Scenario{
	Name: "late-del-guarded", Title: "late-del, and nothing is lost",
	Nodes: 2, Modes: stage.Both, Run: guarded,
}

// quiet is how long no DEL may fail: the kubelet tries again after ten seconds or so.
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
	// Whenever the kubelet's came: these come while the new pod is asked.
	for range 5 {
		if _, err := node.CNI(ctx, lab.CNICall{Command: "DEL", ContainerID: old.ID, Namespace: s.Namespace, Pod: name}); err != nil {
			return err
		}
		time.Sleep(time.Second)
	}
	s.Say("five more late DELs came")
	if err := ends(ctx, s, node); err != nil {
		return err
	}
	if _, err := harm.Stop(ctx); err != nil {
		return err
	}
	if err := s.Recorded(ctx, name); err != nil {
		return err
	}
	s.Say("the new pod has all that it had")
	return leaves(ctx, s, second)
}

// replaceHanging has the kubelet's DEL fail for a while before there is another pod of the
// name: what began without end must end.
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
	s.Say("deleted, it hangs in Terminating: its DEL fails again and again")
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

// torn waits until the old sandbox has been torn down: its DEL succeeded at last.
func torn(ctx context.Context, s *stage.Stage, node *lab.Node, pod string, old stage.Sandbox) error {
	began := time.Now()
	err := lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error {
		boxes, err := s.Sandboxes(ctx, node, pod)
		if err != nil {
			return err
		}
		return stage.Expect(len(boxes) == 1 && boxes[0].ID != old.ID, "the old sandbox %.12s to end, got %v", old.ID, boxes)
	})
	if err == nil {
		s.Say("after %.0f s the old sandbox is torn down", time.Since(began).Seconds())
	}
	return err
}

// ends wants the kubelet's DEL to fail no more.
func ends(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	before, err := failed(node)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(quiet):
	}
	after, err := failed(node)
	if err != nil {
		return err
	}
	s.Say("a DEL had failed %d times; it does not any more", before)
	return stage.Expect(after == before, "no DEL to fail any more, %d did", after-before)
}

// leaves: the new pod can be deleted like any other, and its address is free then.
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
