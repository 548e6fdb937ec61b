// Command plumbline-agent runs on a node and reads the state of its kernel and container
// runtime. It does not evaluate it; with --repair it makes one change at a time, for
// authorized callers. As guard, in a container of its own, it is the guard daemon.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/agent/server"
	"plumbline.dev/plumbline/internal/guard/daemon"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kube/review"
	"plumbline.dev/plumbline/internal/memlimit"
)

func main() {
	if host.ProbeMain() {
		return // a child process that asked one mount whether it answers
	}
	memlimit.Set(os.Getenv, os.ReadFile)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := 0
	if len(os.Args) > 1 && os.Args[1] == "guard" {
		code = daemon.Main(ctx, daemon.Env{Args: os.Args[2:], Stderr: os.Stderr, Hostname: os.Hostname, Getenv: os.Getenv})
	} else {
		code = serve(ctx)
	}
	stop()
	os.Exit(code)
}

// serve runs the node's agent.
func serve(ctx context.Context) int {
	return server.Main(ctx, server.Env{
		Args: os.Args, Stdout: os.Stdout, Stderr: os.Stderr, Hostname: os.Hostname, Getenv: os.Getenv,
		Connect: connect,
	})
}

// connect connects to the API server as the agent's pod.
func connect(node, also string) (door.Reviewer, server.Lease, error) {
	r, err := review.New()
	if err == nil && also != "" {
		err = r.Also(also)
	}
	return r, ownLease{r, review.Lease{
		Namespace: os.Getenv("POD_NAMESPACE"), Name: agent.LeasePrefix + node, Pod: os.Getenv("POD_NAME"), PodUID: os.Getenv("POD_UID"),
	}}, err
}

// An ownLease is the Lease of this agent.
type ownLease struct {
	*review.Reviewer
	review.Lease
}

func (l ownLease) Read(ctx context.Context) (map[string]string, uint64, error) {
	return l.Published(ctx, l.Lease)
}

func (l ownLease) Write(ctx context.Context, annotations map[string]string, now time.Time) (uint64, error) {
	with := l.Lease
	with.Annotations, with.Renewed = annotations, now
	return l.Publish(ctx, with)
}
