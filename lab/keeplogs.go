package lab

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// KeepLogs copies the logs of the control plane and of every node to a directory of the
// machine, since they are removed with the lab.
func (l *Lab) KeepLogs(ctx context.Context, dir string) error {
	from := map[string]string{"control-plane": filepath.Join(stateDir, "log")}
	nodes, err := l.RunningNodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.IsMachine() {
			if err := n.keepJournal(ctx, filepath.Join(dir, n.Name)); err != nil {
				return err
			}
			continue
		}
		from[n.Name] = n.Path("/var/log")
		from[n.Name+"-calico"] = n.Path("/var/log/calico")
		from[n.Name+"-cni"] = filepath.Dir(n.Log("cni"))
	}
	for name, src := range from {
		logs, err := filepath.Glob(filepath.Join(src, "*.log"))
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		for _, f := range logs {
			if err := copyFile(f, filepath.Join(to, filepath.Base(f))); err != nil {
				return fmt.Errorf("keep logs: %w", err)
			}
		}
	}
	return nil
}

// keepJournal keeps what the parts of a machine logged, and its console.
func (n *Node) keepJournal(ctx context.Context, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	journal, err := n.Exec(ctx, "journalctl", "--no-pager", "-o", "short-iso-precise")
	if err != nil {
		journal = err.Error() // a machine that hangs has its console
	}
	if err := os.WriteFile(filepath.Join(dir, "journal.log"), []byte(journal), 0o600); err != nil {
		return err
	}
	if cni, err := n.ReadLog(ctx, "cni"); err == nil {
		if err := os.WriteFile(filepath.Join(dir, "cni.log"), []byte(cni), 0o600); err != nil {
			return err
		}
	}
	return copyFile(filepath.Join(machineDir, n.Name+".console"), filepath.Join(dir, "console.log"))
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}
