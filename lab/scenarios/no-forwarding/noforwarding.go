// Package noforwarding produces a node that forwards no packets.
package noforwarding

import (
	"context"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "no-forwarding", Title: "a node forwards no packets: ip_forward is 0",
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
	for _, name := range []string{"a", "b"} {
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: node.Name}); err != nil {
			return err
		}
	}
	a, err := s.WaitReady(ctx, "a", "")
	if err != nil {
		return err
	}
	peer, err := s.Run(ctx, stage.PodSpec{Name: "peer", Node: other.Name})
	if err != nil {
		return err
	}
	if err := s.Reaches(ctx, peer.Metadata.Name, a.Status.PodIP, "a"); err != nil {
		return err
	}
	set := func(ctx context.Context, value string) error {
		_, err := node.Exec(ctx, "sysctl", "-qw", "net.ipv4.ip_forward="+value)
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return set(ctx, "1") })
	if err := set(ctx, "0"); err != nil {
		return err
	}
	out, err := s.GetFrom(ctx, peer.Metadata.Name, a.Status.PodIP)
	if err := stage.Expect(err != nil, "no answer of a pod of %s, got %q", node.Name, out); err != nil {
		return err
	}
	s.Say("%s forwards nothing: its pods are ready, and do not answer", node.Name)
	if err := s.Check(ctx, "not forwarding", "+PL3008/"+node.Name); err != nil {
		return err
	}
	if err := set(ctx, "1"); err != nil {
		return err
	}
	if err := s.Reaches(ctx, peer.Metadata.Name, a.Status.PodIP, "a"); err != nil {
		return err
	}
	if err := s.Check(ctx, "healed"); err != nil {
		return err
	}
	return firewall(ctx, s, node, func(ctx context.Context) error { return s.Reaches(ctx, peer.Metadata.Name, a.Status.PodIP, "a") }, func(ctx context.Context) (string, error) {
		return s.GetFrom(ctx, peer.Metadata.Name, a.Status.PodIP)
	})
}

// firewall has a rule drop what the node forwards, as a firewall of its own does.
func firewall(ctx context.Context, s *stage.Stage, node *lab.Node, reaches func(context.Context) error, get func(context.Context) (string, error)) error {
	rule := func(do string) []string { return []string{"iptables", "-w", do, "FORWARD", "-j", "DROP"} }
	s.Cleanup(func(ctx context.Context) error { _, _ = node.Exec(ctx, rule("-D")...); return nil })
	if _, err := node.Exec(ctx, rule("-I")...); err != nil {
		return err
	}
	out, err := get(ctx)
	if err := stage.Expect(err != nil, "no answer through a rule that drops, got %q", out); err != nil {
		return err
	}
	s.Say("a firewall rule of %s drops what it forwards", node.Name)
	if err := s.Check(ctx, "dropped", "+PL3008/"+node.Name); err != nil {
		return err
	}
	if _, err := node.Exec(ctx, rule("-D")...); err != nil {
		return err
	}
	if err := reaches(ctx); err != nil {
		return err
	}
	return s.Check(ctx, "healed again")
}
