// Package wrongmtu produces pods whose MTU is larger than that of what carries their packets.
package wrongmtu

import (
	"context"
	"strings"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "wrong-mtu", Title: "long requests hang: the MTU of pods is too large",
	Nodes: 2, Modes: stage.Both, Run: run, ByCause: true,
}

func run(ctx context.Context, s *stage.Stage) error {
	var nodes []*lab.Node
	var pods []lab.Pod
	for i, name := range []string{"near", "far"} {
		n, err := s.Node(ctx, i+1)
		if err != nil {
			return err
		}
		pod, err := s.Run(ctx, stage.PodSpec{Name: name, Node: n.Name})
		if err != nil {
			return err
		}
		nodes, pods = append(nodes, n), append(pods, pod)
	}
	long := stage.URL(pods[1].Status.PodIP) + "?" + strings.Repeat("x", 3000) // more than one packet has
	large := func(ctx context.Context) (string, error) {
		return s.Kubectl(ctx, "-n", s.Namespace, "exec", "near", "--", "/workload", "get", long)
	}
	if out, err := large(ctx); err != nil {
		return stage.Expect(false, "an answer to a long request, got %q, %v", out, err)
	}
	set := func(ctx context.Context, mtu string) error {
		for i, n := range nodes {
			box, err := s.Sandbox(ctx, n, pods[i].Metadata.Name)
			if err != nil {
				return err
			}
			if _, err := n.Exec(ctx, "nsenter", "-t", box.PID, "-n", "ip", "link", "set", "eth0", "mtu", mtu); err != nil {
				return err
			}
		}
		return nil
	}
	was, err := mtuOf(ctx, s, nodes[0], pods[0].Metadata.Name)
	if err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return set(ctx, was) })
	if err := set(ctx, "9000"); err != nil {
		return err
	}
	if err := s.Reaches(ctx, "near", pods[1].Status.PodIP, "far"); err != nil {
		return err
	}
	out, err := large(ctx)
	if err := stage.Expect(err != nil, "no answer to a long request, got %q", out); err != nil {
		return err
	}
	s.Say("with an MTU of 9000 short requests are answered, and long ones are not")
	if err := s.Check(ctx, "too large", "+PL3009/"+nodes[0].Name, "+PL3009/"+nodes[1].Name); err != nil {
		return err
	}
	if err := set(ctx, was); err != nil {
		return err
	}
	if out, err := large(ctx); err != nil {
		return stage.Expect(false, "an answer to a long request again, got %q, %v", out, err)
	}
	return s.Check(ctx, "healed")
}

// mtuOf is the MTU of a pod's interface.
func mtuOf(ctx context.Context, s *stage.Stage, n *lab.Node, pod string) (string, error) {
	box, err := s.Sandbox(ctx, n, pod)
	if err != nil {
		return "", err
	}
	out, err := n.Exec(ctx, "nsenter", "-t", box.PID, "-n", "ip", "-o", "link", "show", "eth0")
	if err != nil {
		return "", err
	}
	_, mtu, _ := strings.Cut(out, " mtu ")
	mtu, _, _ = strings.Cut(mtu, " ")
	return mtu, stage.Expect(mtu != "", "an MTU in %q", out)
}
