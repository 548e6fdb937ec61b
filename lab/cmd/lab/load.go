package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"plumbline.dev/plumbline/lab/load"
)

func fill(ctx context.Context, e env) error {
	var c load.Config
	fs := flag.NewFlagSet("load", flag.ContinueOnError)
	name := fs.String("name", "", "the lab's `NAME`, default lab")
	fs.IntVar(&c.Nodes, "nodes", 100, "number of nodes: `N`, default 100")
	fs.IntVar(&c.PodsPerNode, "pods-per-node", 30, "running pods per node: `N`, default 30")
	fs.Uint64Var(&c.Seed, "seed", 1, "the same `SEED` gives the same cluster; default 1")
	fs.DurationVar(&c.Timeout, "timeout", 0, "give up after this `TIME`, default 15m")
	out := fs.String("out", "", "write the faults to this `FILE`, one line of JSON each")
	fs.Func("faults", fmt.Sprintf("`KIND=COUNT,…`, kinds are %v", load.Kinds), func(s string) (err error) {
		c.Faults, err = load.ParseFaults(s)
		return err
	})
	rest, err := parse(e, fs)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("%w: unexpected %q", errUsage, rest)
	}
	e.args = nil
	if *name != "" {
		e.args = []string{"--name", *name}
	}
	l, _, err := inLab(e)
	if err != nil {
		return err
	}
	list := io.WriteCloser(discard{})
	if *out != "" {
		if list, err = os.Create(*out); err != nil { // before the work, which takes a minute
			return fmt.Errorf("write the faults: %w", err)
		}
	}
	p := newProgress(e.stderr)
	c.Say = p.step
	s, err := load.Run(ctx, l, c)
	p.end()
	if err := errors.Join(err, load.WriteFaults(list, s.Faults), list.Close()); err != nil {
		return err
	}
	faults := c.Faults.String()
	if faults == "" {
		faults = "no faults"
	}
	_, err = fmt.Fprintf(e.stdout, "lab %s is loaded: %d nodes, %d pods, %d objects, %.0f MB, written in %.1f s, in the API server's caches %.1f s later; %s\n",
		l.Name, s.Nodes, s.Pods, s.Objects, float64(s.Bytes)/1e6, s.Write.Seconds(), s.Settle.Seconds(), faults)
	return err
}

// discard is used if no file was requested.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (discard) Close() error { return nil }
