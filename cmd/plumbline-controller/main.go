// Command plumbline-controller watches a cluster all the time, and tells what it finds by objects
// and Events. It changes nothing else.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"plumbline.dev/plumbline/internal/controller"
	"plumbline.dev/plumbline/internal/memlimit"
)

func main() {
	memlimit.Set(os.Getenv, os.ReadFile)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "plumbline-controller:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	o, err := controller.Flags(os.Args[1:], os.Getenv, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	return controller.Run(ctx, o)
}
