// Package ipamdrift produces Calico IPAM records that no longer describe the cluster.
package ipamdrift

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "ipam-drift", Title: "Calico IPAM records are wrong in seven ways",
	Nodes: 2, Modes: stage.Both, Run: run,
	Left: []string{"PL1005/"}, // overlapping blocks; both are empty in the end
}

// orphanID is the ID of a container that never existed on any node.
var orphanID = strings.Repeat("0dead0", 10) + "beef"

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	if err := leak(ctx, s, node); err != nil {
		return err
	}
	if err := freeInUse(ctx, s); err != nil {
		return err
	}
	if err := handles(ctx, s); err != nil {
		return err
	}
	if err := blocks(ctx, s); err != nil {
		return err
	}
	if err := goneNode(ctx, s); err != nil {
		return err
	}
	if err := whatCalicoSees(ctx, s); err != nil {
		return err
	}
	return whatWeSee(ctx, s)
}

// leak: pods got addresses and were deleted while their node's kubelet was down. In etcd
// mode somebody then deleted the endpoints, as in the original incident.
func leak(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	if err := node.Stop(ctx, lab.Kubelet); err != nil {
		return err
	}
	names := []string{"lost-1", "lost-2", "lost-3"}
	if err := s.CreateUnrun(ctx, node, names); err != nil {
		return err
	}
	made, err := s.AddByHand(ctx, node, names)
	if err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error {
		return stage.Each(made, func(h stage.HandMade) error { return s.Forget(ctx, node, h) })
	})
	for _, h := range made {
		if err := h.Unplug(ctx, node); err != nil {
			return err
		}
		if err := s.ForceDelete(ctx, h.Pod); err != nil {
			return err
		}
		if s.Datastore == lab.Etcd {
			wep := fmt.Sprintf("%s-k8s-%s-eth0", node.Name, strings.ReplaceAll(h.Pod, "-", "--"))
			if _, err := s.Calicoctl(ctx, "delete", "workloadendpoint", wep, "-n", s.Namespace); err != nil {
				return err
			}
		}
	}
	if err := node.Start(ctx, lab.Kubelet); err != nil {
		return err
	}
	if err := lab.Eventually(ctx, time.Minute, node.Ready); err != nil {
		return err
	}
	bs, err := s.Blocks(ctx)
	if err != nil {
		return err
	}
	leaked := 0
	for _, b := range bs {
		for _, a := range b.Attributes {
			if slices.Contains(names, a.Secondary["pod"]) && a.Secondary["namespace"] == s.Namespace {
				leaked++
			}
		}
	}
	s.Say("%d addresses are allocated to pods that are gone", leaked)
	return stage.Expect(leaked == len(names), "%d leaked allocations, got %d", len(names), leaked)
}

// freeInUse releases the address of a running pod.
func freeInUse(ctx context.Context, s *stage.Stage) error {
	pod, err := s.Run(ctx, stage.PodSpec{Name: "alive", Node: "node1"})
	if err != nil {
		return err
	}
	if _, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+pod.Status.PodIP); err != nil {
		return err
	}
	_, held, err := s.Owner(ctx, pod.Status.PodIP)
	if err != nil {
		return err
	}
	s.Say("%s is in use by a running pod and free in its block", pod.Status.PodIP)
	return stage.Expect(!held, "%s to be free in its block", pod.Status.PodIP)
}

// handles creates one handle without an allocation (a crash between the two writes of an
// assignment) and one that counts more addresses than it holds.
func handles(ctx context.Context, s *stage.Stage) error {
	pod, err := s.Run(ctx, stage.PodSpec{Name: "counted", Node: "node1"})
	if err != nil {
		return err
	}
	owner, held, err := s.Owner(ctx, pod.Status.PodIP)
	if err != nil || !held {
		return fmt.Errorf("owner of %s: allocated %v, %w", pod.Status.PodIP, held, err)
	}
	all, err := s.Handles(ctx)
	if err != nil {
		return err
	}
	var cidr string
	for _, h := range all {
		if h.ID == owner.Handle {
			for cidr = range h.Block {
				break
			}
		}
	}
	if err := s.PutRaw(ctx, stage.HandleObject(owner.Handle, cidr, 3)); err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return s.PutRaw(ctx, stage.HandleObject(owner.Handle, cidr, 1)) })
	orphan := stage.HandleObject("k8s-pod-network."+orphanID, cidr, 1)
	if err := s.PutRaw(ctx, orphan); err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return s.RemoveRaw(ctx, orphan) })
	all, err = s.Handles(ctx)
	if err != nil {
		return err
	}
	miscounted := slices.ContainsFunc(all, func(h stage.Handle) bool { return h.ID == owner.Handle && h.Block[cidr] == 3 })
	orphaned := slices.ContainsFunc(all, func(h stage.Handle) bool { return strings.Contains(h.ID, orphanID) })
	s.Say("one handle counts 3 addresses and holds 1, one holds none")
	return stage.Expect(miscounted && orphaned, "a miscounted and an orphan handle, got %v and %v", miscounted, orphaned)
}

// blocks creates a block whose lists contradict each other, and one inside it. Neither
// has an affinity, so no node assigns from them.
func blocks(ctx context.Context, s *stage.Stage) error {
	broken := s.BlockObject("10.244.200.0", 26,
		stage.List(64, func(i int) string { return map[bool]string{true: "0", false: "null"}[i == 3] }),
		stage.List(64, func(i int) string { return fmt.Sprint(max(i, 3)) }), // 3 is free and allocated; 0 to 2 are neither
		`[{"handle_id": "k8s-pod-network.broken", "secondary": {"note": "held and free at once"}}]`)
	inside := s.BlockObject("10.244.200.32", 27,
		stage.List(32, func(int) string { return "null" }), stage.List(32, func(i int) string { return fmt.Sprint(i) }), "[]")
	for _, b := range []stage.Object{broken, inside} {
		if err := s.PutRaw(ctx, b); err != nil {
			return err
		}
		s.Cleanup(func(ctx context.Context) error { return s.RemoveRaw(ctx, b) })
	}
	// A repair gives the addresses that nobody knows a handle of their own, which the block's removal by hand leaves.
	s.Cleanup(func(ctx context.Context) error {
		return s.RemoveRaw(ctx, stage.HandleObject("plumbline-unknown.10-244-200-0-26", "10.244.200.0/26", 1))
	})
	all, err := s.Blocks(ctx)
	if err != nil {
		return err
	}
	cidrs := map[string]stage.Block{}
	for _, b := range all {
		cidrs[b.CIDR] = b
	}
	b, ok := cidrs["10.244.200.0/26"]
	_, ok2 := cidrs["10.244.200.32/27"]
	s.Say("a block lists one address as allocated and as free, and another block overlaps it")
	return stage.Expect(ok && ok2 && b.Allocations[3] != nil && slices.Contains(b.Unallocated, 3), "an inconsistent and an overlapping block")
}

// goneNode creates an affinity whose node and block are gone. Calico's IPAM garbage
// collector never removes it, since it looks for the block first.
func goneNode(ctx context.Context, s *stage.Stage) error {
	a := s.AffinityObject("node-gone", "10.244.201.0", 26)
	if err := s.PutRaw(ctx, a); err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return s.RemoveRaw(ctx, a) })
	all, err := s.Affinities(ctx)
	if err != nil {
		return err
	}
	s.Say("an affinity has the name of a node that is gone")
	return stage.Expect(slices.ContainsFunc(all, func(k string) bool { return strings.Contains(k, "node-gone") }), "an affinity of a node that is gone, got %q", all)
}

// whatCalicoSees asserts what calicoctl ipam check reports of all this, and what it does
// not report.
func whatCalicoSees(ctx context.Context, s *stage.Stage) error {
	out, err := s.Problems(ctx)
	if err != nil {
		return err
	}
	reported := []string{"Found 4 IPs that are allocated in IPAM but not actually in use", "Found 1 in-use IPs that are in active IP pools but have no corresponding IPAM allocation"}
	if s.Has(lab.HandlesChecked) {
		reported = append(reported, "Found 1 handles with no matching IPs")
	}
	for _, want := range reported {
		if err := stage.Expect(strings.Contains(out, want), "calicoctl ipam check to report %q, got:\n%s", want, out); err != nil {
			return err
		}
	}
	for _, unseen := range []string{"node-gone", "overlap", "invalid", "count"} {
		if err := stage.Expect(!strings.Contains(out, unseen), "calicoctl ipam check not to report %s", unseen); err != nil {
			return err
		}
	}
	s.Say("calicoctl ipam check reports the leaks, the free address in use and the orphan handle; not the count, the inconsistent lists, the overlap, the affinity")
	return nil
}

// whatWeSee asserts one finding per fault. That an inconsistent block's address has no
// owner and its handle is missing is part of the block's finding.
func whatWeSee(ctx context.Context, s *stage.Stage) error {
	lost, err := s.Held(ctx, func(a stage.Attribute) bool { return strings.HasPrefix(a.Secondary["pod"], "lost-") })
	if err != nil {
		return err
	}
	counted, err := s.Pod(ctx, s.Namespace, "counted")
	if err != nil {
		return err
	}
	alive, err := s.Pod(ctx, s.Namespace, "alive")
	if err != nil {
		return err
	}
	owner, _, err := s.Owner(ctx, counted.Status.PodIP)
	if err != nil {
		return err
	}
	want := []string{
		"PL1002/" + alive.Status.PodIP, "PL1004/10.244.200.0/26", "PL1005/10.244.200.32/27", "PL1006/" + owner.Handle,
		"PL1006/k8s-pod-network." + orphanID, "PL1007/node-gone/10.244.201.0/26",
	}
	for _, ip := range lost {
		want = append(want, "PL1001/"+ip)
	}
	return s.Check(ctx, "drifted", want...)
}
