// Package nodeaddress produces a node for which Calico has an address that it does not have.
package nodeaddress

import (
	"context"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "node-address", Title: "Calico has a wrong address for a node",
	Nodes: 2, Modes: stage.Both, Run: run, ByCause: true,
}

// elsewhere is an address of the documentation's range, which nobody has.
const elsewhere = "192.0.2.77/24"

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	other, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	near, err := s.Run(ctx, stage.PodSpec{Name: "near", Node: node.Name})
	if err != nil {
		return err
	}
	far, err := s.Run(ctx, stage.PodSpec{Name: "far", Node: other.Name})
	if err != nil {
		return err
	}
	reaches := func(ctx context.Context) error {
		return s.Reaches(ctx, near.Metadata.Name, far.Status.PodIP, far.Metadata.Name)
	}
	if err := reaches(ctx); err != nil {
		return err
	}
	was, err := addressOf(ctx, s, other)
	if err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return setAddress(ctx, s, other, was) })
	if err := setAddress(ctx, s, other, elsewhere); err != nil {
		return err
	}
	if err := lab.Eventually(ctx, s.Scale(30e9), func(ctx context.Context) error {
		out, err := s.GetFrom(ctx, near.Metadata.Name, far.Status.PodIP)
		return stage.Expect(err != nil, "no answer from a node whose packets go elsewhere, got %q", out)
	}); err != nil {
		return err
	}
	s.Say("Calico has %s for %s: its pods do not answer those of %s", elsewhere, other.Name, node.Name)
	if err := s.Check(ctx, "elsewhere", "+PL5005/"+other.Name); err != nil {
		return err
	}
	if err := setAddress(ctx, s, other, was); err != nil {
		return err
	}
	if err := reaches(ctx); err != nil {
		return err
	}
	return s.Check(ctx, "healed")
}

// addressOf is the address that Calico has for a node.
func addressOf(ctx context.Context, s *stage.Stage, n *lab.Node) (string, error) {
	out, err := s.Calicoctl(ctx, "get", "node", n.Name, "-o", "go-template={{range .}}{{.Spec.BGP.IPv4Address}}{{end}}")
	return strings.TrimSpace(out), err
}

// setAddress tries again where the kubelet writes its node at the same time.
func setAddress(ctx context.Context, s *stage.Stage, n *lab.Node, ip string) error {
	return lab.Eventually(ctx, 10*time.Second, func(ctx context.Context) error {
		_, err := s.Calicoctl(ctx, "patch", "node", n.Name, "-p", `{"spec":{"bgp":{"ipv4Address":"`+ip+`"}}}`)
		return err
	})
}
