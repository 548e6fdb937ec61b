package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"

	"plumbline.dev/plumbline/lab"
)

func status(ctx context.Context, e env) error {
	l, _, err := inLab(e)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 8, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "WHERE\tPART\tSTATE\tPID\tSTARTS")
	outer, err := l.Status(ctx)
	if err != nil {
		return err
	}
	for _, s := range outer {
		_, _ = fmt.Fprintf(w, "control-plane\t%s\t%s\t%d\t%d\n", s.Name, state(s.Running, s.Exit), s.PID, s.Starts)
	}
	nodes, err := l.RunningNodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		parts, err := n.Status(ctx)
		if err != nil {
			return err
		}
		for _, s := range parts {
			_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\n", n.Name, s.Name, state(s.Running, s.Exit), s.PID, s.Starts)
		}
	}
	return w.Flush()
}

func state(running bool, exit string) string {
	if running {
		return "running"
	}
	return exit
}

func logs(ctx context.Context, e env) error {
	l, args, err := inLab(e)
	if err != nil {
		return err
	}
	if len(args) != 2 {
		return fmt.Errorf("%w: lab logs NODE|control-plane PART", errUsage)
	}
	if args[0] != "control-plane" {
		n, err := l.NodeByName(ctx, args[0])
		if err != nil {
			return err
		}
		text, err := n.ReadLog(ctx, filepath.Base(args[1]))
		if err != nil {
			return fmt.Errorf("%s has no log of %s (lab status lists the components)", args[0], args[1])
		}
		_, err = io.WriteString(e.stdout, text)
		return err
	}
	f, err := os.Open(l.Log(args[1]))
	if err != nil {
		return fmt.Errorf("%s has no log of %s (lab status lists the components): %w", args[0], args[1], errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	_, err = io.Copy(e.stdout, f)
	return err
}

// forward runs a built program for the user, inside the lab.
func forward(component, name string) func(context.Context, env) error {
	return func(ctx context.Context, e env) error {
		l, args, err := inLab(e)
		if err != nil {
			return err
		}
		return attached(e, l, exec.CommandContext(ctx, l.Bin(component, name), args...))
	}
}

func do(ctx context.Context, e env) error {
	l, args, err := inLab(e)
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return fmt.Errorf("%w: lab do -- CMD…", errUsage)
	}
	return attached(e, l, exec.CommandContext(ctx, args[0], args[1:]...))
}

func execNode(ctx context.Context, e env) error {
	l, args, err := inLab(e)
	if err != nil {
		return err
	}
	if len(args) > 1 && args[1] == "--" {
		args = append(args[:1], args[2:]...)
	}
	if len(args) < 2 {
		return fmt.Errorf("%w: lab exec NODE -- CMD…", errUsage)
	}
	n, err := l.NodeByName(ctx, args[0])
	if err != nil {
		return err
	}
	return attached(e, l, n.Command(ctx, args[1:]...))
}

func importImage(ctx context.Context, e env) error {
	l, args, err := inLab(e)
	if err != nil {
		return err
	}
	if len(args) != 1 {
		return fmt.Errorf("%w: lab image FILE", errUsage)
	}
	file, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	nodes, err := l.RunningNodes(ctx)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := n.ImportImage(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

func attached(e env, l *lab.Lab, cmd *exec.Cmd) error {
	cmd.Env = append(os.Environ(), l.Env()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exitCode(exit.ExitCode())
	}
	return err
}

// exitCode is the exit code of a command that was run for the user and that has printed
// its own error.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
