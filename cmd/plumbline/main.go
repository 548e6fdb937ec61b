// Command plumbline finds and repairs drift between Kubernetes, Calico IPAM and the nodes.
// Installed as kubectl-plumbline it is a kubectl plugin.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // for --tz, wherever it runs

	"plumbline.dev/plumbline/internal/cli"
)

func main() {
	// Collect garbage more often than by default: for a large cluster memory is
	// scarcer than a second of run time.
	debug.SetGCPercent(75)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, cli.Env{Args: os.Args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv})
	stop()
	os.Exit(code)
}
