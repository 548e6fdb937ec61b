//go:build e2e

package server_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// hung: a mount that takes requests and never answers is named, with its server, the
// process and thread that wait in it and the pod; and the agent goes on as before.
func hung(t *testing.T, s *stage.Stage, a *asker) {
	ctx := t.Context()
	n, err := s.Node(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.MountHang(ctx, n); err != nil {
		t.Fatal(err)
	}
	pod, err := s.Run(ctx, stage.PodSpec{Name: "reader", Node: "node1", Args: []string{"read", "/hang/data"}, HostPath: stage.HangDir, Grace: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.Hang(n, "read,getattr,statfs"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Kubectl(ctx, "delete", "pod", "reader", "--wait=false"); err != nil {
		t.Fatal(err)
	}
	var slowest time.Duration
	began := time.Now()
	err = lab.Eventually(ctx, 60*time.Second, func(ctx context.Context) error {
		at := time.Now()
		snap := a.tables(ctx, url.Values{"fresh": {"1"}})
		slowest = max(slowest, time.Since(at))
		f := snap.NodeState["node1"]
		if f == nil {
			return fmt.Errorf("no answer: %v", snap.Coverage[0])
		}
		return namesAll(f, pod.Metadata.UID)
	})
	t.Logf("after %s mount, server, process, thread and pod are named; the slowest answer took %s", time.Since(began).Round(time.Second), slowest.Round(time.Millisecond))
	if err != nil || slowest > 10*time.Second {
		t.Errorf("%s, %v", slowest, err)
	}
	out, err := n.Exec(ctx, "sh", "-c", "cat /proc/[0-9]*/comm | grep -c plumbline-probe; true")
	if err != nil || len(strings.TrimSpace(out)) != 1 || strings.TrimSpace(out) > "1" {
		t.Errorf("%s children ask the mount, %v", out, err)
	}
	if err := stage.Hang(n, ""); err != nil {
		t.Fatal(err)
	}
	err = lab.Eventually(ctx, 90*time.Second, func(ctx context.Context) error {
		out, err := n.Exec(ctx, "sh", "-c", "cat /proc/[0-9]*/comm | grep -c plumbline-probe; true")
		if err != nil {
			return err
		}
		snap := a.tables(ctx, url.Values{"table": {"mounts"}})
		f := snap.NodeState["node1"]
		if f == nil {
			return fmt.Errorf("no answer: %v", snap.Coverage[0])
		}
		for _, m := range f.Mounts {
			if m.Silent {
				return fmt.Errorf("%s is still silent", m.Source)
			}
		}
		return stage.Expect(strings.TrimSpace(out) == "0", "no child to be left, got %s", out)
	})
	if err != nil {
		t.Error(err)
	}
}

func namesAll(f *model.NodeState, uid string) error {
	for _, m := range f.Mounts {
		if !m.Silent || !strings.Contains(m.Type, "fuse") {
			continue
		}
		for _, p := range f.Processes {
			if p.PodUID != uid || p.Why != "unkillable" && p.Why != "zombie" {
				continue
			}
			threads := append([]model.Thread{{TID: p.PID, State: p.State, Waits: p.Waits}}, p.Threads...)
			for _, th := range threads {
				if th.State == "D" && th.Waits == "request_wait_answer" && strings.Contains(m.Server, "hangfs") && fmt.Sprint(m.Pods) == "["+uid+"]" {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("mounts %+v, processes %+v", f.Mounts, f.Processes)
}
