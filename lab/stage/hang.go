package stage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
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
	if err := os.MkdirAll(n.Path(HangDir), 0o755); err != nil {
		return err
	}
	if err := Hang(n, ""); err != nil {
		return err
	}
	err := n.StartPart(ctx, supervise.Part{
		Name: "hangfs", Argv: []string{s.Bin("hangfs", "hangfs"), HangDir, hangControl},
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
	return lab.Eventually(ctx, 10*time.Second, func(context.Context) error {
		log, err := os.ReadFile(n.Log("hangfs"))
		if err != nil {
			return err
		}
		return Expect(strings.Contains(string(log), "mounted"), "hangfs to mount, it prints %q", log)
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
func Threads(n *lab.Node, pid string) ([]Thread, error) {
	dirs, err := filepath.Glob(n.Path("/proc/" + pid + "/task/*"))
	if err != nil {
		return nil, err
	}
	var out []Thread
	for _, d := range dirs {
		stat, err := os.ReadFile(filepath.Join(d, "stat"))
		if err != nil {
			continue // it has exited meanwhile
		}
		i := strings.LastIndexByte(string(stat), ')')
		if i < 0 || len(stat) < i+3 {
			return nil, fmt.Errorf("read %s: %q", d, stat)
		}
		wchan, _ := os.ReadFile(filepath.Join(d, "wchan"))
		out = append(out, Thread{TID: filepath.Base(d), State: string(stat[i+2]), Waits: string(wchan)})
	}
	return out, nil
}
