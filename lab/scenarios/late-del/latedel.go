// Package latedel plays seed 000: a StatefulSet's pod is robbed by the late DEL of
// its predecessor of the same name.
package latedel

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "late-del", Title: "an old sandbox's DEL robs the new pod (seed 000)",
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
	if err := robbed(ctx, s, second); err != nil {
		return err
	}
	if err := s.Check(ctx, "robbed", "PL2001/"+s.Namespace+"/"+second.Metadata.Name); err != nil {
		return err
	}
	if s.Datastore == lab.KDD {
		err = timeBomb(ctx, s, second)
	} else {
		err = cutOff(ctx, s, node, second)
	}
	if err != nil {
		return err
	}
	return endlessDel(ctx, s, node, second)
}

// acts is what comes before the robbery: the old sandbox is still there, its DEL fails,
// and the name belongs to another pod by now.
func acts(ctx context.Context, s *stage.Stage, replace replacing) (node *lab.Node, old stage.Sandbox, second lab.Pod, err error) {
	if node, err = s.Node(ctx, 1); err != nil {
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

// A replacing has another pod of the name in the first one's place, on the same node.
type replacing func(ctx context.Context, s *stage.Stage, node *lab.Node, first lab.Pod) (lab.Pod, error)

// install puts the CNI of 2017 in front of the real plugin.
func install(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	dir, _, _ := node.CNIDirs()
	plugin, behind := filepath.Join(dir, "calico"), filepath.Join(dir, "calico.real")
	if err := os.Rename(plugin, behind); err != nil {
		return err
	}
	if err := os.Symlink(s.Bin("latedel", "latedel"), plugin); err != nil {
		return err
	}
	s.Cleanup(func(context.Context) error { return os.Rename(behind, plugin) })
	version, err := node.Exec(ctx, "/opt/cni/bin/calico", "-v")
	if err != nil {
		return err
	}
	return stage.Expect(version == "v1.5.0\n", "the plugin to call itself v1.5.0, got %q", version)
}

// emptyEndpoint is what an earlier duplicate DEL has done: the first pod runs, but
// has no endpoint any more, so its own DEL will fail and be tried again.
func emptyEndpoint(ctx context.Context, s *stage.Stage, node *lab.Node, pod lab.Pod, sb stage.Sandbox) error {
	_, err := node.CNI(ctx, lab.CNICall{Command: "DEL", ContainerID: sb.ID, Namespace: s.Namespace, Pod: pod.Metadata.Name})
	if err != nil {
		return err
	}
	s.Say("its endpoint was emptied by a duplicate DEL")
	return expectRobbed(ctx, s, pod)
}

// replace deletes the pod by force; the StatefulSet makes another of that name at
// once, on the same node, while the old sandbox is still being torn down.
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

// robbed waits for the kubelet's DEL of the old sandbox: the endpoint and the
// address of the new pod go, although it runs.
func robbed(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
	err := lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error { return expectRobbed(ctx, s, pod) })
	if err != nil {
		return err
	}
	s.Say("the late DEL came: the new pod has lost its endpoint and its address %s", pod.Status.PodIP)
	now, err := s.WaitReady(ctx, pod.Metadata.Name, "")
	if err != nil {
		return err
	}
	return stage.Expect(now.Metadata.UID == pod.Metadata.UID && now.Metadata.DeletionTimestamp == "", "the robbed pod to run on as if nothing had happened")
}

// expectRobbed looks at both records of a pod: its endpoint and its allocation.
func expectRobbed(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
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

// timeBomb: in KDD mode Felix takes the address from the pod's status, so the pod
// goes on talking on an address that the next pod may get.
func timeBomb(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
	if err := s.Reaches(ctx, "peer", pod.Status.PodIP, pod.Metadata.Name); err != nil {
		return err
	}
	s.Say("it still answers, on an address that is free in the block: the time bomb")
	return nil
}

// cutOff: in etcd mode the endpoint is all that Felix knows of the pod. With it go
// the route and the network.
func cutOff(ctx context.Context, s *stage.Stage, node *lab.Node, pod lab.Pod) error {
	err := lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		dev, err := stage.RouteDevice(ctx, node, pod.Status.PodIP)
		if err != nil {
			return err
		}
		return stage.Expect(dev == "", "no host route for %s, it is on %s", pod.Status.PodIP, dev)
	})
	if err != nil {
		return err
	}
	out, err := s.GetFrom(ctx, "peer", pod.Status.PodIP)
	s.Say("its host route has gone; asked from another node: %v", err)
	return stage.Expect(err != nil, "no answer from %s, got %q", pod.Status.PodIP, out)
}

// endlessDel: deleting the robbed pod now fails for want of an endpoint, again and again.
func endlessDel(ctx context.Context, s *stage.Stage, node *lab.Node, pod lab.Pod) error {
	if _, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "statefulset", "etcd1", "--wait=false"); err != nil {
		return err
	}
	before, err := failed(node)
	if err != nil {
		return err
	}
	if err := failsAgain(ctx, node, before); err != nil {
		return err
	}
	p, err := s.Pod(ctx, s.Namespace, pod.Metadata.Name)
	if err != nil {
		return fmt.Errorf("the pod should hang in Terminating: %w", err)
	}
	s.Say("deleted, it hangs in Terminating since %s: DEL fails without end", p.Metadata.DeletionTimestamp)
	return stage.Expect(strings.TrimSpace(p.Metadata.DeletionTimestamp) != "", "a pod that hangs in Terminating")
}

// failed counts the DELs that failed for want of an endpoint.
func failed(node *lab.Node) (int, error) {
	return lab.Grep(node.Log(lab.Kubelet), "resource does not exist: WorkloadEndpoint")
}

func failsAgain(ctx context.Context, node *lab.Node, before int) error {
	return lab.Eventually(ctx, time.Minute, func(context.Context) error {
		n, err := failed(node)
		if err != nil {
			return err
		}
		return stage.Expect(n >= before+2, "the DEL to fail again and again, seen %d times", n-before)
	})
}
