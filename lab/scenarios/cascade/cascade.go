// Package cascade plays seed 004's avalanche: a workload with a dead mount takes down
// each node that it is rescheduled to.
package cascade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the incident.
var Scenario = stage.Scenario{
	Name: "cascade", Title: "a workload that takes every node (seed 004)",
	Nodes: 3, Modes: stage.Both, Wrecks: true, Run: run,
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: index-task, namespace: %s}
spec:
  replicas: 1
  selector: {matchLabels: {app: index-task}}
  template:
    metadata: {labels: {app: index-task}}
    spec:
      terminationGracePeriodSeconds: 3
      volumes: [{name: data, hostPath: {path: %s, type: Directory}}]
      containers: [{name: main, image: "%s", args: [serve], volumeMounts: [{name: data, mountPath: /data}]}]
`

func run(ctx context.Context, s *stage.Stage) error {
	nodes, err := s.RunningNodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := s.MountHang(ctx, n); err != nil {
			return err
		}
		if err := stage.Hang(n, "getattr"); err != nil {
			return err
		}
	}
	s.Say("the file server behind %s has died: every node's mount takes requests and never answers", stage.HangDir)
	if err := s.Apply(ctx, fmt.Sprintf(deployment, s.Namespace, stage.HangDir, build.WorkloadImage)); err != nil {
		return err
	}
	var landed []string
	for range nodes {
		name, err := lands(ctx, s, landed)
		if err != nil {
			return err
		}
		landed = append(landed, name)
		if err := falls(ctx, s, name); err != nil {
			return err
		}
	}
	s.Say("the nodes fell in the order in which the workload landed on them: %s", strings.Join(landed, ", "))
	if err := order(ctx, s, landed); err != nil {
		return err
	}
	want := []string{"PL5001/volume/" + stage.HangDir}
	for _, n := range landed {
		want = append(want, "+PL4004/"+n+"/hangfs")
	}
	return s.Check(ctx, "fallen", want...)
}

// lands waits for the workload to be placed on a node that has not fallen yet.
func lands(ctx context.Context, s *stage.Stage, fallen []string) (string, error) {
	var node string
	err := lab.Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		pods, err := s.Pods(ctx, s.Namespace, "")
		if err != nil {
			return err
		}
		for _, p := range pods {
			if n := p.Spec.NodeName; n != "" && p.Metadata.DeletionTimestamp == "" && !slices.Contains(fallen, n) {
				node = n
				return nil
			}
		}
		return stage.Expect(false, "the workload on a further node than %v", fallen)
	})
	s.Say("the workload lands on %s", node)
	return node, err
}

// falls: the kubelet's threads hang in the mount. Restarted, as an operator does, it
// cannot be killed whole and keeps its port; the new one cannot listen, and the node
// is NotReady.
func falls(ctx context.Context, s *stage.Stage, name string) error {
	node, err := s.NodeByName(ctx, name)
	if err != nil {
		return err
	}
	pid, err := hangingKubelet(ctx, node)
	if err != nil {
		return err
	}
	if err := node.Crash(ctx, lab.Kubelet); err != nil {
		return err
	}
	if err := node.Start(ctx, lab.Kubelet); err != nil {
		return err
	}
	err = lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error {
		n, err := lab.Grep(node.Log(lab.Kubelet), "bind: address already in use")
		if err != nil {
			return err
		}
		return stage.Expect(n > 0 && node.Ready(ctx) != nil, "the new kubelet of %s to find its port taken and the node to be NotReady", name)
	})
	if err != nil {
		return err
	}
	ts, err := stage.Threads(node, pid)
	if err != nil {
		return err
	}
	held := slices.ContainsFunc(ts, func(t stage.Thread) bool { return t.State == "D" && t.Waits == "request_wait_answer" })
	s.Say("%s is NotReady: its kubelet was restarted, threads of the old one hang in the mount and hold its port", name)
	return stage.Expect(held, "a thread of the old kubelet in D in the mount, got %v", ts)
}

// hangingKubelet waits until a thread of the node's kubelet is inside the mount.
func hangingKubelet(ctx context.Context, node *lab.Node) (pid string, err error) {
	parts, err := node.Status(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range parts {
		if p.Name == lab.Kubelet {
			pid = fmt.Sprint(p.PID)
		}
	}
	return pid, lab.Eventually(ctx, time.Minute, func(context.Context) error {
		ts, err := stage.Threads(node, pid)
		if err != nil {
			return err
		}
		return stage.Expect(slices.ContainsFunc(ts, func(t stage.Thread) bool { return t.Waits == "request_wait_answer" }), "a thread of the kubelet of %s in the mount", node.Name)
	})
}

// order: the API server's own times tell the same story.
func order(ctx context.Context, s *stage.Stage, landed []string) error {
	var last string
	for _, name := range landed {
		var n struct {
			Status struct {
				Conditions []struct{ Type, Status, LastTransitionTime string }
			}
		}
		if err := s.Get(ctx, "/api/v1/nodes/"+name, &n); err != nil {
			return err
		}
		for _, c := range n.Status.Conditions {
			if c.Type != "Ready" {
				continue
			}
			if err := stage.Expect(c.Status != "True" && c.LastTransitionTime >= last, "%s NotReady after the one before, got %s at %s", name, c.Status, c.LastTransitionTime); err != nil {
				return err
			}
			last = c.LastTransitionTime
		}
	}
	return nil
}
