// Package stalenodename produces calico#12257 on plain Calico 3.31: the CNI
// configuration of a node has another node's name, so the IPAM garbage collector
// releases the addresses of running pods.
package stalenodename

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "stale-nodename", Title: "IPAM GC releases addresses in use (calico#12257)",
	Nodes: 2, Modes: stage.Both, Run: run,
}

const (
	pool   = "tiny"
	cidr   = "10.250.0.0/30"
	blocks = 30
)

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	if err := s.Pool(ctx, pool, cidr, blocks); err != nil {
		return err
	}
	if err := misname(s, node); err != nil {
		return err
	}
	victim, err := s.Run(ctx, stage.PodSpec{Name: "victim", Node: node.Name, Annotations: stage.FromPool(pool)})
	if err != nil {
		return err
	}
	owner, held, err := s.Owner(ctx, victim.Status.PodIP)
	if err != nil {
		return err
	}
	s.Say("victim runs on %s with %s; its allocation in Calico IPAM names %s", victim.Spec.NodeName, victim.Status.PodIP, owner.Secondary["node"])
	if err := stage.Expect(held && owner.Secondary["node"] == "node2" && owner.Secondary["pod"] == "victim", "an allocation that names node2, got %v", owner); err != nil {
		return err
	}
	if s.Datastore == lab.Etcd { // no DEL on that node will release it
		s.Cleanup(func(ctx context.Context) error {
			_, err := s.Calicoctl(ctx, "delete", "workloadendpoint", "node2-k8s-victim-eth0", "-n", s.Namespace, "--skip-not-exists")
			return err
		})
	}
	onEtcd := func(want ...string) []string {
		if s.Datastore == lab.Etcd { // the endpoint has the wrong node too
			want = append(want, "PL2002/"+s.Namespace+"/node2-k8s-victim-eth0")
		}
		return want
	}
	ip := victim.Status.PodIP
	if err := s.Check(ctx, "misnamed", onEtcd("-PL1003/"+ip, "+PL5003/node1")...); err != nil {
		return err
	}
	// The rest of the pool is in use, so that the next free address is the victim's.
	for i := range 3 {
		if _, err := s.Run(ctx, stage.PodSpec{Name: fmt.Sprintf("filler-%d", i), Node: "node2", Annotations: stage.FromPool(pool)}); err != nil {
			return err
		}
	}
	if err := collect(ctx, s, victim); err != nil {
		return err
	}
	if err := shared(ctx, s, victim); err != nil {
		return err
	}
	return s.Check(ctx, "shared", onEtcd("PL2010/"+ip, "PL1009/"+pool, "+PL5003/node1")...)
}

// misname gives node1 the name of node2, as on a machine that was cloned or renamed: in
// KDD mode in the CNI configuration, in etcd mode in the file that the plugin reads if
// its configuration has no node name.
func misname(s *stage.Stage, node *lab.Node) error {
	path := "/var/lib/calico/nodename"
	if s.Datastore == lab.KDD {
		path = strings.TrimPrefix(node.CNIConfig(), node.Path(""))
	}
	before, err := os.ReadFile(node.Path(path))
	if err != nil {
		return err
	}
	after := strings.ReplaceAll(string(before), node.Name, "node2")
	if err := stage.Expect(after != string(before), "the name of the node in %s", path); err != nil {
		return err
	}
	s.Cleanup(func(context.Context) error { return node.WriteFile(path, string(before)) })
	return node.WriteFile(path, after)
}

// collect waits until Calico's IPAM garbage collector, with a short grace period,
// releases the address of the pod that it does not find on node2.
func collect(ctx context.Context, s *stage.Stage, victim lab.Pod) error {
	patch := func(grace string) error {
		_, err := s.Calicoctl(ctx, "patch", "kubecontrollersconfiguration", "default", "-p", fmt.Sprintf(`{"spec":{"controllers":{"node":{"leakGracePeriod":%q}}}}`, grace))
		return err
	}
	if err := lab.Eventually(ctx, 30*time.Second, func(context.Context) error { return patch("10s") }); err != nil {
		return err
	}
	s.Cleanup(func(context.Context) error { return patch("15m") })
	t := time.Now()
	err := lab.Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		owner, held, err := s.Owner(ctx, victim.Status.PodIP)
		if err != nil {
			return err
		}
		return stage.Expect(!held, "the IPAM garbage collector to release %s, still allocated to %v", victim.Status.PodIP, owner)
	})
	if err != nil {
		return err
	}
	now, err := s.WaitReady(ctx, "victim", "")
	if err != nil {
		return err
	}
	s.Say("after %.0f s Calico's IPAM garbage collector released %s, which the running victim uses", time.Since(t).Seconds(), victim.Status.PodIP)
	return stage.Expect(now.Metadata.UID == victim.Metadata.UID && now.Status.PodIP == victim.Status.PodIP, "the victim to keep running with its address")
}

// shared: the next pod of the pool gets the victim's address.
func shared(ctx context.Context, s *stage.Stage, victim lab.Pod) error {
	next, err := s.Run(ctx, stage.PodSpec{Name: "next", Node: "node2", Annotations: stage.FromPool(pool)})
	if err != nil {
		return err
	}
	s.Say("the next pod got %s: two running pods have one address", next.Status.PodIP)
	return stage.Expect(next.Status.PodIP == victim.Status.PodIP, "the next pod with the victim's address %s, got %s", victim.Status.PodIP, next.Status.PodIP)
}
