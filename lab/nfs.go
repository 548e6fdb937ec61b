package lab

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"syscall"
	"time"

	"plumbline.dev/plumbline/lab/build"
	"plumbline.dev/plumbline/lab/supervise"
)

const (
	nfsServer = "nfs"
	nfsPort   = "2049"
)

// StartNFS runs an NFS server beside the control plane. Its only file is data.
func (l *Lab) StartNFS(ctx context.Context) error {
	b, err := build.New()
	if err != nil {
		return err
	}
	dir, err := b.Path(ctx, nfsServer)
	if err != nil {
		return err
	}
	address := net.JoinHostPort(controlPlane4.String(), nfsPort)
	_, err = l.sup.Start(ctx, supervise.Part{
		Name: nfsServer, Argv: []string{filepath.Join(dir, nfsServer), address}, Env: baseEnv(),
		Log: filepath.Join(stateDir, "log", nfsServer+".log"),
	})
	if err != nil {
		return err
	}
	return Eventually(ctx, 10*time.Second, func(ctx context.Context) error {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return c.Close()
	})
}

// FreezeNFS stops the NFS server's process (SIGSTOP): it accepts requests and answers none.
func (l *Lab) FreezeNFS(ctx context.Context) error {
	return l.sup.Signal(ctx, nfsServer, syscall.SIGSTOP)
}

// ThawNFS continues it.
func (l *Lab) ThawNFS(ctx context.Context) error {
	return l.sup.Signal(ctx, nfsServer, syscall.SIGCONT)
}

// MountNFS mounts the server's file system on a machine, as people do: hard, so that whoever
// waits for it waits for ever.
func (n *Node) MountNFS(ctx context.Context, dir string) error {
	if !n.IsMachine() {
		return fmt.Errorf("%s: NFS needs %w", n.Name, errNoMachine)
	}
	options := "vers=3,tcp,nolock,hard,port=" + nfsPort + ",mountport=" + nfsPort + ",mountproto=tcp"
	_, err := n.Exec(ctx, "sh", "-c", `mkdir -p "$0" && exec mount -t nfs -o "$1" "$2":/ "$0"`, dir, options, controlPlane4.String())
	return err
}
