// Command plumbline-agent runs on a node and says what its kernel and its container
// runtime really are. It judges nothing; with --repair it changes one thing at a time, for
// whoever may.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"plumbline.dev/plumbline/internal/agent/server"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kube/review"
)

func main() {
	if host.ProbeMain() {
		return // a child that asked one mount whether it answers
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := server.Main(ctx, server.Env{
		Args: os.Args, Stdout: os.Stdout, Stderr: os.Stderr, Hostname: os.Hostname, Getenv: os.Getenv,
		Review: func(also string) (server.Reviewer, error) {
			r, err := review.New()
			if err == nil && also != "" {
				err = r.Also(also)
			}
			return r, err
		},
	})
	stop()
	os.Exit(code)
}
