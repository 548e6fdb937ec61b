// Package silentkubelet produces a kubelet that hangs: its node is not ready.
package silentkubelet

import (
	"context"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "silent-kubelet", Title: "a kubelet hangs: its node is not ready",
	Nodes: 2, Modes: stage.Both, Run: run, ByCause: true,
}

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	first, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	old, err := s.Run(ctx, stage.PodSpec{Name: "old", Node: node.Name})
	if err != nil {
		return err
	}
	peer, err := s.Run(ctx, stage.PodSpec{Name: "peer", Node: first.Name})
	if err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return node.Thaw(ctx, lab.Kubelet) })
	if err := node.Freeze(ctx, lab.Kubelet); err != nil {
		return err
	}
	if err := lab.Eventually(ctx, s.Scale(3*time.Minute), func(ctx context.Context) error {
		out, err := s.Kubectl(ctx, "get", "node", node.Name, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
		if err != nil {
			return err
		}
		return stage.Expect(strings.TrimSpace(out) == "Unknown", "%s to be not ready, it is %s", node.Name, out)
	}); err != nil {
		return err
	}
	if err := s.Reaches(ctx, peer.Metadata.Name, old.Status.PodIP, old.Metadata.Name); err != nil {
		return err
	}
	s.Say("the kubelet of %s hangs: its pod answers, and Kubernetes knows nothing of it", node.Name)
	if err := s.Check(ctx, "silent", "PL4009/"+node.Name); err != nil {
		return err
	}
	if err := node.Thaw(ctx, lab.Kubelet); err != nil {
		return err
	}
	if err := lab.Eventually(ctx, s.Scale(time.Minute), node.Ready); err != nil {
		return err
	}
	return s.Check(ctx, "healed")
}
