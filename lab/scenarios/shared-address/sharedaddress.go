// Package sharedaddress produces duplicate addresses: several running pods have one
// address, and the kernel sends its traffic to one of them.
package sharedaddress

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
	Name: "shared-address", Title: "several running pods have the same address",
	Nodes: 2, Modes: stage.Both, Run: run,
}

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	if err := fastFelix(ctx, s); err != nil {
		return err
	}
	for _, p := range []stage.PodSpec{{Name: "client1", Node: "node1"}, {Name: "client2", Node: "node2"}, {Name: "other", Node: "node1"}} {
		if _, err := s.Run(ctx, p); err != nil {
			return err
		}
	}
	first, err := s.Run(ctx, stage.PodSpec{Name: "first", Node: "node1"})
	if err != nil {
		return err
	}
	ip := first.Status.PodIP
	if err := s.Own(ctx, stage.PodSpec{Name: "first", Node: "node1"}); err != nil {
		return err
	}
	if err := otherNode(ctx, s, ip); err != nil {
		return err
	}
	if err := s.Check(ctx, "duplicate on two nodes", "PL2010/"+ip); err != nil {
		return err
	}
	if err := sameNode(ctx, s, node, ip); err != nil {
		return err
	}
	if err := wrongDevice(ctx, s, node, ip); err != nil {
		return err
	}
	if err := s.Check(ctx, "duplicate on one node", "PL2010/"+ip); err != nil {
		return err
	}
	if s.Datastore == lab.Etcd {
		return secondEndpoint(ctx, s, ip)
	}
	return nil
}

// fastFelix makes Felix resync the kernel's routes every 10 s and not every 90 s, so
// that two resyncs do not take three minutes.
func fastFelix(ctx context.Context, s *stage.Stage) error {
	set := func(ctx context.Context, every string) error {
		_, err := s.Calicoctl(ctx, "patch", "felixconfiguration", "default", "-p", fmt.Sprintf(`{"spec":{"routeRefreshInterval":%q}}`, every))
		if err != nil && strings.Contains(err.Error(), "resource does not exist") { // on some versions nobody creates it
			err = s.CalicoctlApply(ctx, fmt.Sprintf("apiVersion: projectcalico.org/v3\nkind: FelixConfiguration\nmetadata: {name: default}\nspec: {routeRefreshInterval: %s}\n", every))
		}
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return set(ctx, "90s") })
	return set(ctx, "10s")
}

func release(ctx context.Context, s *stage.Stage, ip string) error {
	_, err := s.Calicoctl(ctx, "ipam", "release", "--ip="+ip)
	return err
}

// otherNode: the address of a running pod was released, and a pod on another node gets
// it.
func otherNode(ctx context.Context, s *stage.Stage, ip string) error {
	if err := release(ctx, s, ip); err != nil {
		return err
	}
	second, err := s.Run(ctx, stage.PodSpec{Name: "second", Node: "node2", Annotations: stage.WithAddress(ip)})
	if err != nil {
		return err
	}
	if err := stage.Expect(second.Status.PodIP == ip, "a second pod with %s, got %s", ip, second.Status.PodIP); err != nil {
		return err
	}
	if err := s.Own(ctx, stage.PodSpec{Name: "second", Node: "node2"}); err != nil {
		return err
	}
	out, err := s.Problems(ctx)
	if err != nil {
		return err
	}
	if err := stage.Expect(strings.Contains(out, "found 0 problems"), "calicoctl ipam check to report nothing, got:\n%s", out); err != nil {
		return err
	}
	s.Say("first on node1 and second on node2 both run with %s; calicoctl ipam check finds 0 problems", ip)
	// Each node routes the address to its own interface: which pod answers depends on the
	// client.
	if err := s.Reaches(ctx, "client1", ip, "first"); err != nil {
		return err
	}
	return s.Reaches(ctx, "client2", ip, "second")
}

// sameNode: on the node that has the address, ADD fails, until the route is missing for
// a moment.
func sameNode(ctx context.Context, s *stage.Stage, node *lab.Node, ip string) error {
	if err := release(ctx, s, ip); err != nil {
		return err
	}
	if err := s.Apply(ctx, s.Manifest(stage.PodSpec{Name: "third", Node: "node1", Annotations: stage.WithAddress(ip)})); err != nil {
		return err
	}
	err := lab.Eventually(ctx, time.Minute, func(ctx context.Context) error {
		out, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "events", "--field-selector=involvedObject.name=third,reason=FailedCreatePodSandBox", "-o", "jsonpath={.items[*].message}")
		if err != nil {
			return err
		}
		return stage.Expect(strings.Contains(out, "already exists for an interface other than"), "ADD to fail because of the route, got %q", out)
	})
	if err != nil {
		return err
	}
	s.Say("a third pod on node1 is refused: a route for %s exists already", ip)
	err = lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error {
		_, _ = node.Exec(ctx, "ip", "route", "del", ip) // it may be gone already
		p, err := s.Pod(ctx, s.Namespace, "third")
		if err != nil {
			return err
		}
		return stage.Expect(p.Ready() && p.Status.PodIP == ip, "a third pod with %s, it is %s", ip, p.Status.Phase)
	})
	if err != nil {
		return err
	}
	s.Say("the route was missing for a moment: now first and third run on node1 with %s", ip)
	return s.Own(ctx, stage.PodSpec{Name: "third", Node: "node1"})
}

// wrongDevice: the host route points to the interface of a pod that does not have the
// address, and other interfaces have permanent neighbour entries for it. Felix 3.31.0
// restores a route that is missing, and never corrects one that points to another cali*
// interface.
func wrongDevice(ctx context.Context, s *stage.Stage, node *lab.Node, ip string) error {
	other := stage.Device(s.Namespace, "other")
	if _, err := node.Exec(ctx, "ip", "route", "replace", ip, "dev", other, "scope", "link"); err != nil {
		return err
	}
	for _, dev := range []string{other, stage.Device(s.Namespace, "client1")} {
		if _, err := node.Exec(ctx, "ip", "neigh", "replace", ip, "lladdr", "ce:00:8d:99:39:ee", "dev", dev, "nud", "permanent"); err != nil {
			return err
		}
	}
	for range 2 {
		if err := felixLooks(ctx, s, node); err != nil {
			return err
		}
	}
	dev, err := stage.RouteDevice(ctx, node, ip)
	if err != nil {
		return err
	}
	neigh, err := stage.Neighbours(ctx, node, ip)
	if err != nil {
		return err
	}
	s.Say("after two resyncs of Felix the route for %s still points to %s, and %d interfaces have a neighbour entry for it", ip, dev, len(neigh))
	if err := stage.Expect(dev == other, "the route on %s, got %s", other, dev); err != nil {
		return err
	}
	if err := stage.Expect(neigh[other] == "PERMANENT" && neigh[stage.Device(s.Namespace, "client1")] == "PERMANENT", "permanent entries on both interfaces, got %v", neigh); err != nil {
		return err
	}
	out, err := s.GetFrom(ctx, "client1", ip)
	return stage.Expect(err != nil, "no answer from %s on node1 any more, got %q", ip, out)
}

// felixLooks waits for a full resync of Felix's routes: only a resync restores the
// deleted route of another pod.
func felixLooks(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	p, err := s.Pod(ctx, s.Namespace, "client1")
	if err != nil {
		return err
	}
	if _, err := node.Exec(ctx, "ip", "route", "del", p.Status.PodIP); err != nil {
		return err
	}
	return lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error {
		dev, err := stage.RouteDevice(ctx, node, p.Status.PodIP)
		if err != nil {
			return err
		}
		return stage.Expect(dev != "", "Felix to restore the route for %s", p.Status.PodIP)
	})
}

// secondEndpoint: a pod of node1 also has an endpoint on node2.
func secondEndpoint(ctx context.Context, s *stage.Stage, ip string) error {
	node2, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	made, err := s.AddByHand(ctx, node2, []string{"other"})
	if err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error {
		if err := s.Forget(ctx, node2, made[0]); err != nil {
			return err
		}
		return made[0].Unplug(ctx, node2)
	})
	keys, err := s.Endpoints(ctx)
	if err != nil {
		return err
	}
	n := 0
	for _, k := range keys {
		if strings.HasPrefix(k, s.Namespace+"/") && strings.HasSuffix(k, "-k8s-other-eth0") {
			n++
		}
	}
	s.Say("the pod other of node1 has endpoints on %d nodes", n)
	if err := stage.Expect(n == 2, "endpoints of one pod on two nodes, got %d", n); err != nil {
		return err
	}
	held, err := s.Held(ctx, func(a stage.Attribute) bool { return strings.HasSuffix(a.Handle, made[0].ID) })
	if err != nil {
		return err
	}
	return s.Check(ctx, "two endpoints", "PL2010/"+ip, "PL2002/"+s.Namespace+"/node2-k8s-other-eth0", "PL1001/"+strings.Join(held, ","), "+PL3001/node2/"+stage.Device(s.Namespace, "other"))
}
