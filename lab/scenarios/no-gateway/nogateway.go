// Package nogateway produces a running pod that cannot resolve its gateway 169.254.1.1,
// once for each cause that remains in current Calico.
package nogateway

import (
	"context"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "no-gateway", Title: "a running pod cannot resolve 169.254.1.1",
	Nodes: 2, Modes: stage.Both, Run: run,
}

const gateway = "169.254.1.1"

// A cause makes the gateway unreachable for a pod, and reverts that.
type cause struct {
	name       string
	code       string // the finding, if agents report node state
	make, undo func(ctx context.Context, v victim) error
}

type victim struct {
	node   *lab.Node
	sb     stage.Sandbox
	device string
}

func (v victim) host(ctx context.Context, argv ...string) error {
	_, err := v.node.Exec(ctx, argv...)
	return err
}

func (v victim) pod(ctx context.Context, argv ...string) error {
	_, err := stage.InPod(ctx, v.node, v.sb, argv...)
	return err
}

var causes = []cause{
	{
		"proxy_arp was switched off on the host interface (a sysctl reload)",
		"PL3005",
		func(ctx context.Context, v victim) error {
			return v.host(ctx, "sysctl", "-qw", "net.ipv4.conf."+v.device+".proxy_arp=0")
		},
		func(ctx context.Context, v victim) error {
			return v.host(ctx, "sysctl", "-qw", "net.ipv4.conf."+v.device+".proxy_arp=1")
		},
	},
	{
		"the node has no default route, so nothing answers for the gateway (calico#3270)",
		"PL3005",
		func(ctx context.Context, v victim) error { return v.host(ctx, "ip", "route", "del", "default") },
		func(ctx context.Context, v victim) error {
			return v.host(ctx, "ip", "route", "add", "default", "via", "192.168.77.254")
		},
	},
	{
		"the pod has a permanent neighbour entry with a MAC address that no interface has (a static entry of old Calico)",
		"PL3005",
		func(ctx context.Context, v victim) error {
			return v.pod(ctx, "ip", "neigh", "replace", gateway, "lladdr", "ce:00:8d:99:39:ee", "dev", "eth0", "nud", "permanent")
		},
		func(ctx context.Context, v victim) error {
			return v.pod(ctx, "ip", "neigh", "del", gateway, "dev", "eth0")
		},
	},
	{
		"the host interface is down",
		"PL3002",
		func(ctx context.Context, v victim) error { return v.host(ctx, "ip", "link", "set", v.device, "down") },
		func(ctx context.Context, v victim) error { return v.host(ctx, "ip", "link", "set", v.device, "up") },
	},
}

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	peer, err := s.Run(ctx, stage.PodSpec{Name: "peer", Node: "node2"})
	if err != nil {
		return err
	}
	if _, err := s.Run(ctx, stage.PodSpec{Name: "victim", Node: "node1"}); err != nil {
		return err
	}
	sb, err := s.Sandbox(ctx, node, "victim")
	if err != nil {
		return err
	}
	v := victim{node: node, sb: sb, device: stage.Device(s.Namespace, "victim")}
	for _, c := range causes {
		if err := play(ctx, s, v, c, peer.Status.PodIP); err != nil {
			return err
		}
	}
	return nil
}

func play(ctx context.Context, s *stage.Stage, v victim, c cause, peer string) error {
	// The pod works before; flush what it has learnt: a fresh neighbour entry in the pod
	// hides the fault.
	if err := s.Reaches(ctx, "victim", peer, "peer"); err != nil {
		return err
	}
	if err := c.make(ctx, v); err != nil {
		return err
	}
	if !strings.Contains(c.name, "permanent") {
		_ = v.pod(ctx, "ip", "neigh", "flush", "dev", "eth0")
	}
	out, err := s.GetFrom(ctx, "victim", peer)
	if err := stage.Expect(err != nil, "no answer to a request from the pod: %s; got %q", c.name, out); err != nil {
		return err
	}
	entry, err := stage.InPod(ctx, v.node, v.sb, "ip", "neigh", "show", gateway)
	if err != nil {
		return err
	}
	pod, err := s.WaitReady(ctx, "victim", "")
	if err != nil {
		return err
	}
	has, err := s.HasEndpoint(ctx, pod)
	if err != nil {
		return err
	}
	_, held, err := s.Owner(ctx, pod.Status.PodIP)
	if err != nil {
		return err
	}
	s.Say("%s: the pod is Running, its endpoint and allocation are correct, its neighbour entry is %q", c.name, strings.TrimSpace(entry))
	if err := stage.Expect(has && held, "a correct endpoint and allocation, got endpoint %v and allocation %v", has, held); err != nil {
		return err
	}
	reachable := strings.Contains(entry, "REACHABLE") || strings.Contains(entry, "ee:ee:ee:ee:ee:ee")
	if err := stage.Expect(!reachable, "no usable entry for the gateway, got %q", entry); err != nil {
		return err
	}
	if err := s.Check(ctx, c.name, "+"+c.code+"/"+s.Namespace+"/victim"); err != nil { // only node state shows it
		return err
	}
	if err := c.undo(ctx, v); err != nil {
		return err
	}
	return lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		_ = v.pod(ctx, "ip", "neigh", "flush", "dev", "eth0")
		return s.Reaches(ctx, "victim", peer, "peer")
	})
}
