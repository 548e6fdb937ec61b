package stage

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/supervise"
)

// Where the file system that can hang is mounted on a node.
const (
	HangDir     = "/var/lib/hang"
	hangControl = "/run/hang.control"
)

// MountHang mounts a FUSE file system on the node. It answers until Hang is called.
func (s *Stage) MountHang(ctx context.Context, n *lab.Node) error {
	if _, err := n.Exec(ctx, "mkdir", "-p", HangDir); err != nil {
		return err
	}
	if err := Hang(n, ""); err != nil {
		return err
	}
	err := n.StartPart(ctx, supervise.Part{
		Name: "hangfs", Argv: []string{n.Bin("hangfs", "hangfs"), HangDir, hangControl},
		Env: []string{"PATH=" + os.Getenv("PATH")}, Log: "/var/log/hangfs.log",
	})
	if err != nil {
		return err
	}
	s.Cleanup(func(ctx context.Context) error {
		if err := Hang(n, ""); err != nil {
			return err
		}
		// A repair may have aborted its FUSE connection, which ends the server.
		parts, err := n.Status(ctx)
		if err != nil || !slices.ContainsFunc(parts, func(st supervise.Status) bool { return st.Name == "hangfs" && st.Running }) {
			return err
		}
		return n.Stop(ctx, "hangfs")
	})
	return lab.Eventually(ctx, s.Scale(10*time.Second), func(ctx context.Context) error {
		log, err := n.ReadLog(ctx, "hangfs")
		if err != nil {
			return err
		}
		return Expect(strings.Contains(log, "mounted"), "hangfs to mount, it prints %q", log)
	})
}

// Hang lists the operations that do not return from now on; an empty list ends every
// hang.
func Hang(n *lab.Node, operations string) error { return n.WriteFile(hangControl, operations) }

// Containers lists the containers (not sandboxes) of a pod that have a process.
func (s *Stage) Containers(ctx context.Context, n *lab.Node, pod string) ([]Sandbox, error) {
	return s.tasks(ctx, n, pod, "container", "")
}

// A Thread is a thread of a process, read from /proc.
type Thread struct {
	TID, State, Waits string
}

// Threads returns the state of every thread of a process on the node; the leader is the
// one whose TID is the PID.
func Threads(ctx context.Context, n *lab.Node, pid string) ([]Thread, error) {
	const read = `cd /proc/"$0"/task && for t in *; do s=$(cat $t/stat 2>/dev/null) && echo "$t|$s|$(cat $t/wchan 2>/dev/null)"; done; true`
	text, err := n.Exec(ctx, "sh", "-c", read, pid)
	if err != nil {
		return nil, err
	}
	var out []Thread
	for line := range strings.Lines(text) {
		tid, rest, _ := strings.Cut(strings.TrimSpace(line), "|")
		stat, wchan := rest, ""
		if i := strings.LastIndexByte(rest, '|'); i >= 0 {
			stat, wchan = rest[:i], rest[i+1:]
		}
		i := strings.LastIndexByte(stat, ')')
		if i < 0 || len(stat) < i+3 {
			return nil, fmt.Errorf("read the threads of %s: %q", pid, line)
		}
		out = append(out, Thread{TID: tid, State: stat[i+2 : i+3], Waits: wchan})
	}
	return out, nil
}
