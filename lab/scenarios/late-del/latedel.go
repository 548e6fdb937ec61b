// Package latedel produces a late DEL: the DEL of an old sandbox releases the address of
// a StatefulSet's new pod with the same name.
package latedel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "late-del", Title: "an old sandbox's DEL releases the new pod's IP",
	Nodes: 2, Modes: stage.Both, Run: run,
}

func run(ctx context.Context, s *stage.Stage) error {
	if _, err := s.Run(ctx, stage.PodSpec{Name: "peer", Node: "node2"}); err != nil {
		return err
	}
	node, _, second, err := acts(ctx, s, replace)
	if err != nil {
		return err
	}
	if err := lostEndpoint(ctx, s, second); err != nil {
		return err
	}
	if err := s.Check(ctx, "released", "PL2001/"+s.Namespace+"/"+second.Metadata.Name); err != nil {
		return err
	}
	if s.Datastore == lab.KDD {
		err = keepsFreeAddress(ctx, s, second)
	} else {
		err = cutOff(ctx, s, node, second)
	}
	if err != nil {
		return err
	}
	return stuckDel(ctx, s, node, second)
}

// acts runs the incident up to the late DEL: the old sandbox still exists, its DEL
// fails, and the name belongs to another pod by now.
func acts(ctx context.Context, s *stage.Stage, replace replacing) (node *lab.Node, old stage.Sandbox, second lab.Pod, err error) {
	if node, err = s.Node(ctx, s.On); err != nil {
		return node, old, second, err
	}
	if err = install(ctx, s, node); err != nil {
		return node, old, second, err
	}
	if err = s.Apply(ctx, s.StatefulSet(stage.PodSpec{Name: "etcd1", Node: node.Name}, 1)); err != nil {
		return node, old, second, err
	}
	first, err := s.WaitReady(ctx, "etcd1-0", "")
	if err != nil {
		return node, old, second, err
	}
	s.Say("etcd1-0 runs with %s", first.Status.PodIP)
	if old, err = s.Sandbox(ctx, node, first.Metadata.Name); err != nil {
		return node, old, second, err
	}
	if err = emptyEndpoint(ctx, s, node, first, old); err != nil {
		return node, old, second, err
	}
	second, err = replace(ctx, s, node, first)
	return node, old, second, err
}

// A replacing replaces the first pod by another pod with the same name on the same node.
type replacing func(ctx context.Context, s *stage.Stage, node *lab.Node, first lab.Pod) (lab.Pod, error)

// install installs the CNI plugin of 2017 in front of the real plugin.
func install(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	const plugin, behind = "/opt/cni/bin/calico", "/opt/cni/bin/calico.real"
	if _, err := node.Exec(ctx, "mv", plugin, behind); err != nil {
		return err
	}
	if err := node.Install(ctx, "latedel", "latedel", plugin); err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error {
		_, err := node.Exec(ctx, "mv", behind, plugin)
		return err
	})
	version, err := node.Exec(ctx, "/opt/cni/bin/calico", "-v")
	if err != nil {
		return err
	}
	return stage.Expect(version == "v1.5.0\n", "the plugin to report version v1.5.0, got %q", version)
}

// emptyEndpoint repeats what an earlier duplicate DEL did: the first pod runs, but has
// no endpoint any more, so its own DEL will fail and be retried.
func emptyEndpoint(ctx context.Context, s *stage.Stage, node *lab.Node, pod lab.Pod, sb stage.Sandbox) error {
	_, err := node.CNI(ctx, lab.CNICall{Command: "DEL", ContainerID: sb.ID, Namespace: s.Namespace, Pod: pod.Metadata.Name})
	if err != nil {
		return err
	}
	s.Say("its endpoint was emptied by a duplicate DEL")
	return expectReleased(ctx, s, pod)
}

// replace deletes the pod by force; the StatefulSet creates another pod of that name at
// once, on the same node, while the old sandbox is still being removed.
func replace(ctx context.Context, s *stage.Stage, _ *lab.Node, first lab.Pod) (lab.Pod, error) {
	if err := s.ForceDelete(ctx, first.Metadata.Name); err != nil {
		return lab.Pod{}, err
	}
	second, err := s.WaitReady(ctx, first.Metadata.Name, first.Metadata.UID)
	if err != nil {
		return second, err
	}
	s.Say("deleted by force; the new etcd1-0 runs with %s on %s", second.Status.PodIP, second.Spec.NodeName)
	return second, stage.Expect(second.Spec.NodeName == first.Spec.NodeName, "the new pod on %s", first.Spec.NodeName)
}

// lostEndpoint waits for the kubelet's DEL of the old sandbox: it removes the endpoint
// and the address of the new pod, although that pod runs.
func lostEndpoint(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
	err := lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error { return expectReleased(ctx, s, pod) })
	if err != nil {
		return err
	}
	s.Say("late DEL: the new pod lost its endpoint, and its address %s was released", pod.Status.PodIP)
	now, err := s.WaitReady(ctx, pod.Metadata.Name, "")
	if err != nil {
		return err
	}
	return stage.Expect(now.Metadata.UID == pod.Metadata.UID && now.Metadata.DeletionTimestamp == "", "the pod that lost its endpoint to keep running")
}

// expectReleased asserts that a pod has neither an endpoint nor an allocation.
func expectReleased(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
	has, err := s.HasEndpoint(ctx, pod)
	if err != nil {
		return err
	}
	_, allocated, err := s.Owner(ctx, pod.Status.PodIP)
	if err != nil {
		return err
	}
	return stage.Expect(!has && !allocated, "neither endpoint nor allocation of %s, got %v and %v", pod.Status.PodIP, has, allocated)
}

// keepsFreeAddress: in KDD mode Felix takes the address from the pod's status, so the
// pod stays reachable at an address that the next pod may get.
func keepsFreeAddress(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
	if err := s.Reaches(ctx, "peer", pod.Status.PodIP, pod.Metadata.Name); err != nil {
		return err
	}
	s.Say("it still answers, at an address that is free in the block: the next pod may get it")
	return nil
}

// cutOff: in etcd mode Felix uses only the endpoint. Without it the host route and the
// pod's network are gone, at the latest when Felix compares its routes with the kernel's, every 90 s.
func cutOff(ctx context.Context, s *stage.Stage, node *lab.Node, pod lab.Pod) error {
	err := lab.Eventually(ctx, 100*time.Second, func(ctx context.Context) error {
		dev, err := stage.RouteDevice(ctx, node, pod.Status.PodIP)
		if err != nil {
			return err
		}
		return stage.Expect(dev == "", "no host route for %s, it points to %s", pod.Status.PodIP, dev)
	})
	if err != nil {
		return err
	}
	out, err := s.GetFrom(ctx, "peer", pod.Status.PodIP)
	s.Say("its host route is gone; a request from another node: %v", err)
	return stage.Expect(err != nil, "no answer from %s, got %q", pod.Status.PodIP, out)
}

// stuckDel: the DEL of the pod that lost its endpoint now fails on every retry, because
// the endpoint does not exist.
func stuckDel(ctx context.Context, s *stage.Stage, node *lab.Node, pod lab.Pod) error {
	if _, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "statefulset", "etcd1", "--wait=false"); err != nil {
		return err
	}
	before, err := failed(ctx, node)
	if err != nil {
		return err
	}
	if err := failsAgain(ctx, node, before); err != nil {
		return err
	}
	p, err := s.Pod(ctx, s.Namespace, pod.Metadata.Name)
	if err != nil {
		return fmt.Errorf("the pod should stay in Terminating: %w", err)
	}
	s.Say("deleted, it is in Terminating since %s: its DEL fails on every retry", p.Metadata.DeletionTimestamp)
	return stage.Expect(strings.TrimSpace(p.Metadata.DeletionTimestamp) != "", "a pod that stays in Terminating")
}

// failed counts the DELs that failed because the endpoint does not exist.
func failed(ctx context.Context, node *lab.Node) (int, error) {
	text, err := node.ReadLog(ctx, lab.Kubelet)
	return strings.Count(text, "resource does not exist: WorkloadEndpoint"), err
}

func failsAgain(ctx context.Context, node *lab.Node, before int) error {
	return lab.Eventually(ctx, time.Minute, func(context.Context) error {
		n, err := failed(ctx, node)
		if err != nil {
			return err
		}
		return stage.Expect(n >= before+2, "the DEL to fail repeatedly, seen %d times", n-before)
	})
}
