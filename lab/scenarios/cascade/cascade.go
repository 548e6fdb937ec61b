// Package cascade makes node after node NotReady: a workload whose mount does not answer
// is rescheduled to each of them.
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
	Name: "cascade", Title: "a workload makes every node NotReady",
	Nodes: 3, Modes: stage.Both, Wrecks: true, Run: run,
	Left: []string{"PL5001/", "PL4001/", "PL4002/", "PL4003/", "PL9001/"}, // a person must stop the workload
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
	s.Say("the file server of %s fails: every node's mount accepts requests and does not answer", stage.HangDir)
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
	s.Say("the nodes became NotReady in the order in which the workload was scheduled to them: %s", strings.Join(landed, ", "))
	if err := order(ctx, s, landed); err != nil {
		return err
	}
	want := []string{"PL5001/volume/" + stage.HangDir}
	for _, n := range landed {
		want = append(want, "+PL4004/"+n+"/hangfs")
	}
	return s.Check(ctx, "fallen", want...)
}

// lands waits until the workload is scheduled to a node that is still Ready.
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
		return stage.Expect(false, "the workload on another node than %v", fallen)
	})
	s.Say("the workload is scheduled to %s", node)
	return node, err
}

// falls: threads of the kubelet hang in the mount. After a restart, as an operator does
// it, the old process cannot be killed and keeps its port; the new kubelet cannot
// listen, and the node becomes NotReady.
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
		return stage.Expect(n > 0 && node.Ready(ctx) != nil, "the port of the new kubelet of %s to be occupied and the node to be NotReady", name)
	})
	if err != nil {
		return err
	}
	ts, err := stage.Threads(ctx, node, pid)
	if err != nil {
		return err
	}
	held := slices.ContainsFunc(ts, func(t stage.Thread) bool { return t.State == "D" && t.Waits == "request_wait_answer" })
	s.Say("%s is NotReady: its kubelet was restarted, threads of the old process hang in the mount and hold its port", name)
	return stage.Expect(held, "a thread of the old kubelet in state D in the mount, got %v", ts)
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
		ts, err := stage.Threads(ctx, node, pid)
		if err != nil {
			return err
		}
		return stage.Expect(slices.ContainsFunc(ts, func(t stage.Thread) bool { return t.Waits == "request_wait_answer" }), "a thread of the kubelet of %s in the mount", node.Name)
	})
}

// order: the API server's timestamps confirm the order.
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
			if err := stage.Expect(c.Status != "True" && c.LastTransitionTime >= last, "%s NotReady after the previous node, got %s at %s", name, c.Status, c.LastTransitionTime); err != nil {
				return err
			}
			last = c.LastTransitionTime
		}
	}
	return nil
}
