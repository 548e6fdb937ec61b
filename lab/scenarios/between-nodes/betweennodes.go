// Package betweennodes produces a node that does not reach the pods of another one.
package betweennodes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "between-nodes", Title: "a node does not reach the pods of another one",
	Nodes: 2, Modes: stage.Both, Run: run, ByCause: true,
}

// A fault is broken and healed by commands on the node.
type fault struct {
	name         string
	broken, mend []string
	frozen       bool // only while Felix hangs: it heals it otherwise, some only at its next resync
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
	ip := far.Status.PodIP
	mac, to, err := entryOf(ctx, node, ip)
	if err != nil {
		return err
	}
	for _, f := range []fault{
		{name: "a blackhole in front of the route", broken: words("ip route add blackhole " + ip + "/32"), mend: words("ip route del blackhole " + ip + "/32")},
		{name: "a rule that prohibits", broken: words("ip rule add priority 100 to " + ip + "/32 prohibit"), mend: words("ip rule del priority 100")},
		{
			name:   "a rule that leads elsewhere",
			broken: []string{"sh", "-c", "ip route add default via 192.168.77.254 table 99 && ip rule add priority 100 to " + ip + "/32 lookup 99"},
			mend:   []string{"sh", "-c", "ip rule del priority 100; ip route flush table 99"},
		},
		{name: "the forwarding database without the node", broken: words("bridge fdb del " + mac + " dev vxlan.calico"), mend: words("bridge fdb add " + mac + " dev vxlan.calico dst " + to), frozen: true},
		{name: "the tunnel is down", broken: words("ip link set vxlan.calico down"), mend: words("ip link set vxlan.calico up"), frozen: true},
	} {
		if err := play(ctx, s, node, f, near.Metadata.Name, ip, reaches); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return s.Check(ctx, "healed")
}

func play(ctx context.Context, s *stage.Stage, node *lab.Node, f fault, from, ip string, reaches func(context.Context) error) error {
	want := "PL3007/" + node.Name
	if f.frozen {
		if err := node.Freeze(ctx, lab.Felix); err != nil {
			return err
		}
		s.Cleanup(func(ctx context.Context) error { return node.Thaw(ctx, lab.Felix) })
	}
	s.Cleanup(func(ctx context.Context) error { _, _ = node.Exec(ctx, f.mend...); return nil })
	if _, err := node.Exec(ctx, f.broken...); err != nil {
		return err
	}
	out, err := s.GetFrom(ctx, from, ip)
	if err := stage.Expect(err != nil, "no answer from the other node, got %q", out); err != nil {
		return err
	}
	s.Say("%s: a pod of %s does not reach one of the other node", f.name, node.Name)
	if f.frozen {
		err = s.Check(ctx, f.name, "+PL4008/"+node.Name)
		if err == nil && len(s.Checked.Findings) > 0 {
			err = stage.Expect(slices.Contains(s.Checked.Findings[0].Explains, want), "%s under PL4008, got %q", want, s.Checked.Findings[0].Explains)
		}
	} else {
		err = s.Check(ctx, f.name, "+"+want)
	}
	if err != nil {
		return err
	}
	if _, err = node.Exec(ctx, f.mend...); err != nil {
		return err
	}
	if f.frozen {
		if err := node.Thaw(ctx, lab.Felix); err != nil {
			return err
		}
	}
	return reaches(ctx)
}

// entryOf gives the MAC of the VXLAN neighbour through which an address is reached, and the address to
// which its packets are sent.
func entryOf(ctx context.Context, node *lab.Node, ip string) (mac, to string, err error) {
	route, err := node.Exec(ctx, "ip", "route", "get", ip)
	if err != nil {
		return "", "", err
	}
	_, rest, ok := strings.Cut(route, " via ")
	if err := stage.Expect(ok && strings.Contains(route, "vxlan.calico"), "a route by vxlan.calico, got %q", route); err != nil {
		return "", "", err
	}
	near, err := node.Exec(ctx, "ip", "neigh", "show", strings.Fields(rest)[0], "dev", "vxlan.calico")
	if err != nil {
		return "", "", err
	}
	_, mac, ok = strings.Cut(near, "lladdr ")
	if err := stage.Expect(ok, "a neighbour entry, got %q", near); err != nil {
		return "", "", err
	}
	mac = strings.Fields(mac)[0]
	all, err := node.Exec(ctx, "bridge", "fdb", "show", "dev", "vxlan.calico")
	if err != nil {
		return "", "", err
	}
	for line := range strings.Lines(all) {
		if f := strings.Fields(line); f[0] == mac && len(f) > 2 && f[1] == "dst" {
			to = f[2]
		}
	}
	return mac, to, stage.Expect(to != "", "an entry of %s in the forwarding database, got %q", mac, all)
}

func words(s string) []string { return strings.Fields(s) }
