// Package leakedendpoints produces, as a kubelet upgrade did, endpoints whose pods are
// gone and interfaces whose endpoints are gone.
package leakedendpoints

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// litter returns how many endpoints have no pod, and how many interfaces have no
// endpoint.
func litter(s *stage.Stage) (endpoints, devices int) {
	if s.Brief {
		return 60, 5
	}
	return 600, 50
}

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "leaked-endpoints", Title: "endpoints without pods, veths without endpoints",
	Nodes: 2, Modes: []lab.Datastore{lab.Etcd}, Wrecks: true, Run: run,
}

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, 1)
	if err != nil {
		return err
	}
	if err := node.Stop(ctx, lab.Kubelet); err != nil {
		return err
	}
	endpoints, devices := litter(s)
	names := make([]string, endpoints+devices)
	for i := range names {
		names[i] = fmt.Sprintf("old-%03d", i)
	}
	if err := s.CreateUnrun(ctx, node, names); err != nil {
		return err
	}
	s.Say("the kubelet of %s is down, %d pods are bound to it", node.Name, len(names))
	t := time.Now()
	made, err := s.AddByHand(ctx, node, names)
	if err != nil {
		return err
	}
	s.Say("each got its network by a real CNI ADD, %.2f s each", time.Since(t).Seconds()/float64(len(made)))
	if err := lose(ctx, s, node, made); err != nil {
		return err
	}
	// One request for all of them: kubectl would send 650, slowly.
	if _, err := s.Kubectl(ctx, "delete", "--raw", "/api/v1/namespaces/"+s.Namespace+"/pods?gracePeriodSeconds=0"); err != nil {
		return err
	}
	if err := node.Start(ctx, lab.Kubelet); err != nil {
		return err
	}
	if err := lab.Eventually(ctx, time.Minute, node.Ready); err != nil {
		return err
	}
	s.Say("the pods were deleted meanwhile; the new kubelet has no record of them")
	ours := make([]string, len(names))
	for i, name := range names {
		ours[i] = stage.Device(s.Namespace, name)
	}
	return symptoms(ctx, s, node, ours)
}

// lose splits the pods into the two kinds of leaks of the original incident.
func lose(ctx context.Context, s *stage.Stage, node *lab.Node, made []stage.HandMade) error {
	endpoints, _ := litter(s)
	err := stage.Each(made[:endpoints], func(h stage.HandMade) error { return h.Unplug(ctx, node) })
	if err != nil {
		return err
	}
	return stage.Each(made[endpoints:], func(h stage.HandMade) error { return s.Forget(ctx, node, h) })
}

// symptoms asserts the leaks; ours are the interfaces that the scenario created.
func symptoms(ctx context.Context, s *stage.Stage, node *lab.Node, ours []string) error {
	endpoints, devices := litter(s)
	// Long enough for every cleanup: the kubelet's housekeeping and a full resync of Felix.
	s.Say("waiting 30 s for any cleanup")
	time.Sleep(30 * time.Second)
	keys, err := s.Endpoints(ctx)
	if err != nil {
		return err
	}
	pods, err := s.Pods(ctx, s.Namespace, "")
	if err != nil {
		return err
	}
	orphans := 0
	for _, k := range keys {
		if strings.HasPrefix(k, s.Namespace+"/"+node.Name+"-k8s-old--") {
			orphans++
		}
	}
	keys = slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, s.Namespace+"/") }) // pods of other namespaces are running
	if err := stage.Expect(len(pods) == 0 && orphans == endpoints, "%d endpoints without a pod, got %d endpoints and %d pods", endpoints, orphans, len(pods)); err != nil {
		return err
	}
	devs, err := stage.Devices(ctx, node)
	if err != nil {
		return err
	}
	devs = slices.DeleteFunc(devs, func(d string) bool { return !slices.Contains(ours, d) })
	if err := stage.Expect(len(devs) == devices, "%d cali* interfaces without an endpoint, got %d", devices, len(devs)); err != nil {
		return err
	}
	s.Say("%d endpoints have no pod, %d interfaces have no endpoint", orphans, len(devs))
	out, err := s.Problems(ctx)
	if err != nil {
		return err
	}
	s.Say("calicoctl ipam check counts each endpoint as in use: %s", lastLine(out))
	if err := stage.Expect(strings.Contains(out, "found 0 problems"), "calicoctl ipam check to report nothing"); err != nil {
		return err
	}
	held, err := s.Held(ctx, func(a stage.Attribute) bool { return a.Secondary["namespace"] == s.Namespace })
	if err != nil {
		return err
	}
	var want []string
	for _, k := range keys {
		want = append(want, "PL2002/"+k)
	}
	for _, ip := range held {
		want = append(want, "PL1001/"+ip)
	}
	for _, d := range devs {
		want = append(want, "+PL3001/"+node.Name+"/"+d)
	}
	if err := s.Check(ctx, "leaked", want...); err != nil || !s.Agents() {
		return err
	}
	// The question of the incident's author: all of it is older than the kubelet of its node.
	older := s.Checked.Predating
	s.Say("%d of %d leaked records are older than the kubelet of their node", older.Findings, older.Of)
	return stage.Expect(older.Findings >= endpoints && older.Findings == older.Of, "%d endpoints older than the kubelet, got %+v", endpoints, older)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
