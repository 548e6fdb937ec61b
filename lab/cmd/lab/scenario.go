package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/scenarios"
	"plumbline.dev/plumbline/lab/stage"
)

// byCause marks what no repair ends; .ci/e2e-all looks for it.
const byCause = " (ends with its cause)"

func scenarioList(_ context.Context, e env) error {
	for _, s := range scenarios.All {
		title := s.Title
		if s.ByCause {
			title += byCause
		}
		if _, err := fmt.Fprintf(e.stdout, "%-18s %-10s %s\n", s.Name, modes(s), title); err != nil {
			return err
		}
	}
	return nil
}

func modes(s stage.Scenario) string {
	if len(s.Modes) == 2 {
		return "kdd, etcd"
	}
	return string(s.Modes[0])
}

func find(name string) (stage.Scenario, error) {
	for _, s := range scenarios.All {
		if s.Name == name {
			return s, nil
		}
	}
	return stage.Scenario{}, fmt.Errorf("%w: no scenario %q; lab scenarios lists them", errUsage, name)
}

// playerEnv is set in the process that runs a scenario in one mode, to distinguish it
// from its parent.
const playerEnv = "PLUMBLINE_LAB_PLAYER"

func runScenario(ctx context.Context, e env) error {
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	var c lab.Config
	configFlags(fs, &c)
	var o stage.Options
	fs.BoolVar(&o.Keep, "keep", false, "keep the broken cluster for inspection")
	fs.DurationVar(&o.For, "for", 0, "how long churn runs, `2m`")
	rest, err := parse(e, fs)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return fmt.Errorf("%w: lab run SCENARIO; lab scenarios lists them", errUsage)
	}
	sc, err := find(rest[0])
	if err != nil {
		return err
	}
	if c.Datastore != "" && !slices.Contains(sc.Modes, c.Datastore) {
		return fmt.Errorf("%w: %s runs only on %s", errUsage, sc.Name, modes(sc))
	}
	if os.Getenv(playerEnv) != "" {
		return play(ctx, e, sc, c, o)
	}
	if o.Keep && c.Name != lab.DefaultName && c.Datastore == "" && len(sc.Modes) > 1 {
		return fmt.Errorf("%w: one lab of that name is kept; add --datastore (%s)", errUsage, modes(sc))
	}
	for _, mode := range sc.Modes {
		if c.Datastore == "" || c.Datastore == mode {
			if err := stageFor(ctx, e, sc, c, mode, o.Keep); err != nil {
				return err
			}
		}
	}
	return nil
}

// stageFor runs the scenario in a separate process, since entering a lab replaces a
// process, and removes the lab afterwards.
func stageFor(ctx context.Context, e env, sc stage.Scenario, c lab.Config, mode lab.Datastore, keep bool) error {
	name := c.Name
	if name == lab.DefaultName {
		name = fmt.Sprintf("run-%s-%s", sc.Name, mode)
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	args := append(slices.Clone(os.Args[1:]), "--datastore", string(mode), "--name", name)
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Env = append(os.Environ(), playerEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.stdin, e.stdout, e.stderr
	err = cmd.Run()
	if keep {
		_, _ = fmt.Fprintf(e.stdout, "The cluster is kept. Inspect it with: lab kubectl --name %s get pods -A; remove it with: lab down --name %s\n", name, name)
	} else {
		err = errors.Join(err, lab.Down(context.WithoutCancel(ctx), name))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exitCode(exit.ExitCode())
	}
	return err
}

func play(ctx context.Context, e env, sc stage.Scenario, c lab.Config, o stage.Options) error {
	if c.Nodes == 0 {
		c.Nodes = sc.Nodes
	}
	c, err := c.WithDefaults()
	if err != nil {
		return err
	}
	if err := insideNew(ctx, c); err != nil {
		return err
	}
	p := newProgress(e.stderr)
	l, err := lab.Up(ctx, c, p.step)
	p.end()
	if err != nil {
		return err
	}
	t := time.Now()
	o.Tell = func(line string) {
		_, _ = fmt.Fprintf(e.stdout, "%5.1f s  %s\n", time.Since(t).Seconds(), line)
	}
	if err := stage.Play(ctx, l, sc, o); err != nil {
		return fmt.Errorf("%s on %s: %w", sc.Name, l.Datastore, err)
	}
	_, err = fmt.Fprintf(e.stdout, "%s on %s: reproduced with every symptom, %.0f s\n", sc.Name, l.Datastore, time.Since(t).Seconds())
	return err
}
