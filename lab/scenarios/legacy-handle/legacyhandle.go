// Package legacyhandle produces a late DEL on plain Calico 3.31: every DEL of an older
// sandbox of a pod's name releases a handle that Calico 2 named after the pod.
package legacyhandle

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
	Name: "legacy-handle", Title: "late DEL on plain Calico 3.31, no shim",
	Nodes: 2, Modes: stage.Both, Run: run,
}

func run(ctx context.Context, s *stage.Stage) error {
	node, pod, old, err := acts(ctx, s)
	if err != nil {
		return err
	}
	return released(ctx, s, node, pod, old)
}

// acts runs the incident up to the late DEL: an exited sandbox awaits garbage
// collection, and the address of the running one has the handle that every DEL of the
// name releases.
func acts(ctx context.Context, s *stage.Stage) (node *lab.Node, pod lab.Pod, old stage.Sandbox, err error) {
	if node, err = s.Node(ctx, 1); err != nil {
		return node, pod, old, err
	}
	if _, err = s.Run(ctx, stage.PodSpec{Name: "peer", Node: "node2"}); err != nil {
		return node, pod, old, err
	}
	if err = s.Apply(ctx, s.StatefulSet(stage.PodSpec{Name: "web", Node: node.Name}, 1)); err != nil {
		return node, pod, old, err
	}
	if _, err = s.WaitReady(ctx, "web-0", ""); err != nil {
		return node, pod, old, err
	}
	if pod, old, err = twice(ctx, s, node); err != nil {
		return node, pod, old, err
	}
	s.Say("two sandboxes of web-0 exited and were replaced; the first awaits garbage collection")
	return node, pod, old, rename(ctx, s, pod)
}

// twice replaces the sandbox twice: the kubelet keeps the last exited container of a
// pod, with its sandbox, and garbage-collects the one before.
func twice(ctx context.Context, s *stage.Stage, node *lab.Node) (pod lab.Pod, old stage.Sandbox, err error) {
	if _, old, err = replaceSandbox(ctx, s, node); err != nil {
		return pod, old, err
	}
	pod, next, err := replaceSandbox(ctx, s, node)
	if err != nil {
		return pod, old, err
	}
	// The kubelet's garbage collection runs once a minute. If it has just run, the next run
	// will do.
	kept, err := s.Kept(ctx, node, "web-0", old.ID)
	if err != nil || kept {
		return pod, old, err
	}
	pod, _, err = replaceSandbox(ctx, s, node)
	return pod, next, err
}

// replaceSandbox kills the pod's pause process, and the kubelet creates a new sandbox.
// The exited one is kept until it is garbage-collected, with another DEL.
func replaceSandbox(ctx context.Context, s *stage.Stage, node *lab.Node) (pod lab.Pod, old stage.Sandbox, err error) {
	before, err := s.WaitReady(ctx, "web-0", "")
	if err != nil {
		return pod, old, err
	}
	if old, err = s.Sandbox(ctx, node, "web-0"); err != nil {
		return pod, old, err
	}
	if _, err := node.Exec(ctx, "kill", "-9", old.PID); err != nil {
		return pod, old, err
	}
	err = lab.Eventually(ctx, time.Minute, func(ctx context.Context) (err error) {
		if pod, err = s.WaitReady(ctx, "web-0", ""); err != nil {
			return err
		}
		return stage.Expect(pod.Status.PodIP != before.Status.PodIP, "the new sandbox's address in the pod's status")
	})
	return pod, old, err
}

// rename gives the pod's allocation the handle name that Calico 2 would have used.
func rename(ctx context.Context, s *stage.Stage, pod lab.Pod) error {
	blocks, err := s.Blocks(ctx)
	if err != nil {
		return err
	}
	legacy := s.Namespace + "." + pod.Metadata.Name
	for _, b := range blocks {
		owner, ok := b.Owner(pod.Status.PodIP)
		if !ok {
			continue
		}
		if err := s.PutRaw(ctx, stage.HandleObject(legacy, b.CIDR, 1)); err != nil {
			return err
		}
		err := s.EditBlock(ctx, b, func(spec map[string]any) {
			attrs, _ := spec["attributes"].([]any)
			for _, a := range attrs {
				if m, ok := a.(map[string]any); ok && m["handle_id"] == owner.Handle {
					m["handle_id"] = legacy
				}
			}
		})
		if err != nil {
			return err
		}
		if err := s.RemoveRaw(ctx, stage.HandleObject(owner.Handle, b.CIDR, 1)); err != nil {
			return err
		}
		now, held, err := s.Owner(ctx, pod.Status.PodIP)
		if err != nil {
			return err
		}
		s.Say("%s has the handle %s, as Calico 2 wrote it", pod.Status.PodIP, now.Handle)
		return stage.Expect(held && now.Handle == legacy, "an allocation with handle %s, got %v", legacy, now)
	}
	return fmt.Errorf("no block allocates %s", pod.Status.PodIP)
}

// released waits until the kubelet garbage-collects the exited sandbox. Its DEL has
// another container ID and still releases the running pod's address.
func released(ctx context.Context, s *stage.Stage, node *lab.Node, pod lab.Pod, old stage.Sandbox) error {
	t := time.Now()
	err := lab.Eventually(ctx, 4*time.Minute, func(ctx context.Context) error {
		_, held, err := s.Owner(ctx, pod.Status.PodIP)
		if err != nil {
			return err
		}
		return stage.Expect(!held, "%s to be released", pod.Status.PodIP)
	})
	if err != nil {
		return err
	}
	s.Say("after %.0f s the kubelet garbage-collected the exited sandbox; its DEL released %s", time.Since(t).Seconds(), pod.Status.PodIP)
	now, err := s.WaitReady(ctx, pod.Metadata.Name, "")
	if err != nil {
		return err
	}
	if err := stage.Expect(now.Metadata.UID == pod.Metadata.UID && now.Status.PodIP == pod.Status.PodIP, "the pod to keep running with its address"); err != nil {
		return err
	}
	n, err := lab.Grep(node.Log("cni"), old.ID)
	if err != nil {
		return err
	}
	if err := stage.Expect(n > 0, "the old sandbox in cni.log"); err != nil {
		return err
	}
	if err := s.Reaches(ctx, "peer", pod.Status.PodIP, pod.Metadata.Name); err != nil {
		return err
	}
	out, err := s.Problems(ctx)
	if err != nil {
		return err
	}
	if err := stage.Expect(strings.Contains(out, "Found 1 in-use IPs that are in active IP pools but have no corresponding IPAM allocation"), "one address in use and free, got:\n%s", out); err != nil {
		return err
	}
	return s.Check(ctx, "released", "PL1002/"+pod.Status.PodIP)
}
