// Package stuckterminating produces pods that cannot be killed, because one of their
// processes waits for a file system that accepted a request and does not answer.
package stuckterminating

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
	Name: "stuck-terminating", Title: "pods that cannot be killed",
	Nodes: 2, Modes: stage.Both, Run: run,
	// The mount answers again, with an error; the kubelet chooses when it next tries to end
	// what hung in it, and waits longer after each attempt.
	Left: []string{"PL4001/", "PL4002/", "PL4003/"},
}

// The three ways in which a pod cannot be killed.
const (
	reader  = "reader"  // its leader waits in the read
	threads = "threads" // another thread does: the leader becomes a zombie
	zombie  = "zombie"  // the leader has exited by itself, another thread runs: no mount needed
)

const grace = 3

func run(ctx context.Context, s *stage.Stage) error {
	node, err := s.Node(ctx, s.On)
	if err != nil {
		return err
	}
	if err := s.MountHang(ctx, node); err != nil {
		return err
	}
	pids := map[string]string{}
	for name, args := range map[string][]string{reader: {"read", "/hang/data"}, threads: {"hang", "/hang/data"}, zombie: {"leader-exit"}} {
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: node.Name, Args: args, HostPath: stage.HangDir, Grace: grace}); err != nil {
			return err
		}
		c, err := s.Containers(ctx, node, name)
		if err != nil || len(c) != 1 {
			return fmt.Errorf("containers of %s: %v, %w", name, c, err)
		}
		pids[name] = c[0].PID
	}
	s.Cleanup(func(ctx context.Context) error { return release(ctx, s, node, pids[zombie]) })
	if err := stage.Hang(node, "read"); err != nil {
		return err
	}
	for _, name := range []string{reader, threads} {
		if err := sitsInMount(ctx, s, node, name, pids[name]); err != nil {
			return err
		}
	}
	if err := leaderEnded(ctx, s, node, pids[zombie]); err != nil {
		return err
	}
	if _, err := s.Kubectl(ctx, "-n", s.Namespace, "delete", "pods", "--all", "--wait=false"); err != nil {
		return err
	}
	deleted := time.Now()
	s.Say("the mount no longer answers, and the pods are deleted")
	if err := states(ctx, s, node, pids); err != nil {
		return err
	}
	if err := sandboxGone(ctx, s, node); err != nil {
		return err
	}
	if err := stuck(ctx, s, node, deleted); err != nil {
		return err
	}
	// Only node state shows why it is stuck.
	if err := s.Check(ctx, "stuck", "+PL4004/"+node.Name+"/hangfs"); err != nil {
		return err
	}
	return held(ctx, s, node, deleted)
}

// sitsInMount waits until a thread of the process waits for a request that the server
// has accepted.
func sitsInMount(ctx context.Context, s *stage.Stage, node *lab.Node, name, pid string) error {
	return lab.Eventually(ctx, s.Scale(20*time.Second), func(ctx context.Context) error {
		ts, err := stage.Threads(ctx, node, pid)
		if err != nil {
			return err
		}
		for _, t := range ts {
			if t.Waits == "request_wait_answer" {
				s.Say("%s: thread %s waits in the mount (state %s)", name, t.TID, t.State)
				return nil
			}
		}
		return stage.Expect(false, "a thread of %s in request_wait_answer, got %v", name, ts)
	})
}

// leaderEnded waits until the main thread of the process has exited by itself.
func leaderEnded(ctx context.Context, s *stage.Stage, node *lab.Node, pid string) error {
	return lab.Eventually(ctx, s.Scale(20*time.Second), func(ctx context.Context) error {
		ts, err := stage.Threads(ctx, node, pid)
		if err != nil {
			return err
		}
		return stage.Expect(len(ts) > 1 && ts[0].TID == pid && ts[0].State == "Z", "a zombie leader with running threads, got %v", ts)
	})
}

// states: after the kill, the processes have the states that ps showed in the original
// incident.
func states(ctx context.Context, s *stage.Stage, node *lab.Node, pids map[string]string) error {
	want := map[string]struct{ leader, thread string }{reader: {"D", ""}, threads: {"Z", "D"}, zombie: {"Z", "S"}}
	seen := map[string]string{}
	err := lab.Eventually(ctx, s.Scale(30*time.Second), func(ctx context.Context) error {
		for name, w := range want {
			ts, err := stage.Threads(ctx, node, pids[name])
			if err != nil {
				return err
			}
			leader, others := "", ""
			for _, t := range ts {
				if t.TID == pids[name] {
					leader = t.State
				} else {
					others += t.State
				}
			}
			if err := stage.Expect(leader == w.leader && (w.thread == "" || len(others) > 0 && others[0] == w.thread[0]),
				"%s with leader in %s and threads in %q, got %s and %q", name, w.leader, w.thread, leader, others); err != nil {
				return err
			}
			if w.leader == "Z" {
				if err := unreadable(ctx, node, pids[name], ts); err != nil {
					return err
				}
			}
			seen[name] = fmt.Sprintf("%s: leader in state %s, other threads in %q", name, leader, others)
		}
		return nil
	})
	for _, name := range []string{reader, threads, zombie} {
		s.Say("%s", seen[name])
	}
	return err
}

// unreadable: the namespace links of a zombie leader cannot be read, about which runc
// and docker complained in the original incident; those of its thread can be read.
func unreadable(ctx context.Context, node *lab.Node, pid string, ts []stage.Thread) error {
	_, err := node.Exec(ctx, "readlink", "/proc/"+pid+"/ns/net")
	if err := stage.Expect(err != nil, "unreadable namespace links of the zombie, got %v", err); err != nil {
		return err
	}
	for _, t := range ts {
		if t.TID != pid {
			_, err := node.Exec(ctx, "readlink", "/proc/"+pid+"/task/"+t.TID+"/ns/net")
			return err
		}
	}
	return stage.Expect(false, "a running thread beside the zombie")
}

// sandboxGone: the pause process exits; the container remains without a sandbox.
func sandboxGone(ctx context.Context, s *stage.Stage, node *lab.Node) error {
	sb, err := s.Sandbox(ctx, node, threads)
	if err != nil {
		return err
	}
	if _, err := node.Exec(ctx, "kill", "-9", sb.PID); err != nil {
		return err
	}
	return lab.Eventually(ctx, s.Scale(20*time.Second), func(ctx context.Context) error {
		boxes, err := s.Sandboxes(ctx, node, threads)
		if err != nil {
			return err
		}
		containers, err := s.Containers(ctx, node, threads)
		if err != nil {
			return err
		}
		if err := stage.Expect(len(boxes) == 0 && len(containers) == 1, "a container without a sandbox, got %d and %d", len(containers), len(boxes)); err != nil {
			return err
		}
		s.Say("%s: its sandbox is gone, its container remains", threads)
		return nil
	})
}

// stuck: the pods stay in Terminating with address, route and interface, and the kubelet
// gives up each attempt after two minutes.
func stuck(ctx context.Context, s *stage.Stage, node *lab.Node, deleted time.Time) error {
	const says = "Kill container failed"
	err := lab.Eventually(ctx, s.Scale(4*time.Minute), func(ctx context.Context) error {
		log, err := node.ReadLog(ctx, lab.Kubelet)
		if err != nil {
			return err
		}
		return stage.Expect(strings.Contains(log, says), "the kubelet to give up an attempt")
	})
	if err != nil {
		return err
	}
	s.Say("after %.0f s the kubelet logs: %s … DeadlineExceeded", time.Since(deleted).Seconds(), says)
	for _, name := range []string{reader, threads, zombie} {
		pod, err := s.Pod(ctx, s.Namespace, name)
		if err != nil {
			return err
		}
		_, held, err := s.Owner(ctx, pod.Status.PodIP)
		if err != nil {
			return err
		}
		if err := stage.Expect(pod.Metadata.DeletionTimestamp != "" && held, "%s in Terminating with its address allocated, got %q and %v", name, pod.Metadata.DeletionTimestamp, held); err != nil {
			return err
		}
	}
	if err := node.Ready(ctx); err != nil {
		return err
	}
	s.Say("all three stay in Terminating with their addresses; the node is still Ready")
	return nil
}

// held: five minutes after the termination grace period, by the API server's clock,
// there is a finding for each pod, with its reason if agents report node state.
func held(ctx context.Context, s *stage.Stage, node *lab.Node, deleted time.Time) error {
	if s.Brief {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(deleted.Add(5*time.Minute + 15*time.Second))):
	}
	want := []string{"+PL4004/" + node.Name + "/hangfs"}
	for _, name := range []string{reader, threads, zombie} {
		want = append(want, "PL4001/"+s.Namespace+"/"+name)
	}
	return s.Check(ctx, "held", want...)
}

// release is not part of the incident: it ends what hangs, so that the cluster can be
// used for another scenario.
func release(ctx context.Context, s *stage.Stage, node *lab.Node, zombiePID string) error {
	if err := stage.Hang(node, ""); err != nil {
		return err
	}
	if _, err := node.Exec(ctx, "kill", "-9", zombiePID); err != nil {
		return err
	}
	for _, name := range []string{reader, threads, zombie} {
		if err := s.WaitGone(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
