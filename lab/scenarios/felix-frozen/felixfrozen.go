// Package felixfrozen produces a Felix that hangs: new pods of its node run and are not reachable.
package felixfrozen

import (
	"context"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "felix-frozen", Title: "Felix hangs: new pods are not reachable",
	Nodes: 2, Modes: stage.Both, Run: run, ByCause: true,
}

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	other, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	old, err := s.Run(ctx, stage.PodSpec{Name: "old", Node: node.Name})
	if err != nil {
		return err
	}
	peer, err := s.Run(ctx, stage.PodSpec{Name: "peer", Node: other.Name})
	if err != nil {
		return err
	}
	if err := s.Reaches(ctx, peer.Metadata.Name, old.Status.PodIP, old.Metadata.Name); err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return node.Thaw(ctx, lab.Felix) })
	if err := node.Freeze(ctx, lab.Felix); err != nil {
		return err
	}
	fresh, err := s.Run(ctx, stage.PodSpec{Name: "fresh", Node: node.Name})
	if err != nil {
		return err
	}
	if err := s.Reaches(ctx, peer.Metadata.Name, old.Status.PodIP, old.Metadata.Name); err != nil {
		return err
	}
	out, err := s.GetFrom(ctx, peer.Metadata.Name, fresh.Status.PodIP)
	if err := stage.Expect(err != nil, "no answer of the new pod while Felix hangs, got %q", out); err != nil {
		return err
	}
	s.Say("Felix of %s hangs: the old pod answers, the new one is ready and does not", node.Name)
	if err := s.Check(ctx, "frozen", "+PL4008/"+node.Name); err != nil {
		return err
	}
	if err := node.Thaw(ctx, lab.Felix); err != nil {
		return err
	}
	if err := s.Reaches(ctx, peer.Metadata.Name, fresh.Status.PodIP, fresh.Metadata.Name); err != nil {
		return err
	}
	return s.Check(ctx, "healed")
}
