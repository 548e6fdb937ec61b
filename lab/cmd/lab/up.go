package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/build"
)

func configFlags(fs *flag.FlagSet, c *lab.Config) {
	fs.StringVar(&c.Name, "name", lab.DefaultName, "the lab's `NAME`, default lab")
	fs.IntVar(&c.Nodes, "nodes", 0, "number of nodes: `N`, default 2")
	fs.Func("datastore", "Calico's datastore, `kdd|etcd`", func(s string) error {
		c.Datastore = lab.Datastore(s)
		return nil
	})
	fs.BoolVar(&c.ControlPlaneOnly, "control-plane-only", false, "only etcd, API server and Calico's CRDs; no nodes")
	fs.BoolVar(&c.DualStack, "dual-stack", false, "IPv4 and IPv6")
	fs.IntVar(&c.BlockSize, "block-size", 26, "prefix length of Calico's IPv4 blocks, `20..32`")
	fs.StringVar(&c.Layout, "layout", lab.LayoutKubeadm, "where nodes have socket and CNI configuration, `kubeadm|k3s`")
	fs.StringVar(&c.Containerd, "containerd", lab.ContainerdDebian, "container runtime, `debian|2.2`")
	fs.StringVar(&c.Calico, "calico", "", "`VERSION` of Calico, default "+build.CalicoVersions[0])
	fs.StringVar(&c.Kubernetes, "kubernetes", "", "`VERSION` of Kubernetes, default "+build.KubernetesVersions[0])
	fs.IntVar(&c.Machines, "machines", 0, "number of further nodes that are emulated machines: `N`")
	fs.StringVar(&c.Machine, "machine", "debian12", "what they are, `debian11|debian12|debian13|debian13-sid`")
}

func up(ctx context.Context, e env) error {
	var c lab.Config
	fs := flag.NewFlagSet("up", flag.ContinueOnError)
	configFlags(fs, &c)
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
	if c, err = c.WithDefaults(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return create(ctx, e, c)
}

// insideNew creates a lab and continues inside it: the process is replaced by the same
// command, run inside the lab.
func insideNew(ctx context.Context, c lab.Config) error {
	inside, ok := lab.Inside()
	if ok && inside != c.Name {
		return fmt.Errorf("this process runs inside lab %s; a lab cannot be started from here", inside)
	}
	if ok {
		return nil
	}
	if err := checkBuilt(ctx, c); err != nil {
		return err
	}
	if err := lab.Create(ctx, c.Name); err != nil {
		return err
	}
	return enter(c.Name, os.Args[1:]...)
}

func create(ctx context.Context, e env, c lab.Config) error {
	if err := insideNew(ctx, c); err != nil {
		return err
	}
	t := time.Now()
	p := newProgress(e.stderr)
	l, err := lab.Up(ctx, c, p.step)
	p.end()
	if err != nil {
		return fmt.Errorf("%w\nThe lab is kept as it is. Inspect it with: lab status --name %s; remove it with: lab down --name %s", err, c.Name, c.Name)
	}
	what := fmt.Sprintf("%d nodes", l.Nodes)
	switch {
	case l.ControlPlaneOnly:
		what = "control plane only"
	case l.Nodes == 1:
		what = "1 node"
	}
	if l.Machines > 0 {
		what += fmt.Sprintf(", %d %s (%.0f times slower than this host)", l.Machines, l.Machine, l.Slow)
	}
	_, err = fmt.Fprintf(e.stdout, "lab %s is up: %s, Kubernetes %s, Calico %s on %s, %.1f s\n", l.Name, what, l.Kubernetes, l.Calico, l.Datastore, time.Since(t).Seconds())
	return err
}

// checkBuilt checks that everything a lab needs is built and installed, before a lab is
// created.
func checkBuilt(ctx context.Context, c lab.Config) error {
	b, err := build.New()
	if err != nil {
		return err
	}
	if _, err = b.PathsOf(ctx, c.Calico, c.Kubernetes); err != nil {
		return err
	}
	if c.Machines > 0 {
		if _, err := b.MachineImage(c.Machine); err != nil {
			return err
		}
		if _, err := exec.LookPath("qemu-system-x86_64"); err != nil {
			return fmt.Errorf("%w; run: apt-get install qemu-system-x86", err)
		}
	}
	return lab.CheckTools()
}

func down(ctx context.Context, e env) error {
	fs := flag.NewFlagSet("down", flag.ContinueOnError)
	name := fs.String("name", lab.DefaultName, "the lab's `name`")
	all := fs.Bool("all", false, "every lab on this machine")
	if _, err := parse(e, fs); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if !*all {
		return lab.Down(ctx, *name)
	}
	labs, err := lab.Running()
	if err != nil {
		return err
	}
	for name := range labs {
		err = errors.Join(err, lab.Down(ctx, name))
	}
	return err
}

func list(_ context.Context, e env) error {
	labs, err := lab.Running()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(labs)) {
		if _, err := fmt.Fprintf(e.stdout, "%-24s process %d\n", name, labs[name]); err != nil {
			return err
		}
	}
	return nil
}

func leftovers(ctx context.Context, e env) error {
	left, err := lab.Leftovers(ctx)
	if err != nil {
		return err
	}
	for _, l := range left {
		_, _ = fmt.Fprintln(e.stdout, l)
	}
	if len(left) > 0 {
		return fmt.Errorf("%d leftovers of labs on this machine", len(left))
	}
	return nil
}

func buildParts(ctx context.Context, e env) error {
	fs := flag.NewFlagSet("build", flag.ContinueOnError)
	machine := fs.String("machine", "", "make this machine's root file system, `debian11|debian12|debian13|debian13-sid`; needs a Debian mirror")
	more, err := parse(e, fs)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	b, err := build.New()
	if err != nil {
		return err
	}
	if isTerminal(e.stderr) {
		b.Log = e.stderr
	}
	t := time.Now()
	done := func(name string, cached bool) {
		how := fmt.Sprintf("built in %.0f s", time.Since(t).Seconds())
		if cached {
			how = "in the cache"
		}
		_, _ = fmt.Fprintf(e.stdout, "%-12s %s\n", name, how)
		t = time.Now()
	}
	if err := b.All(ctx, func(c build.Component, cached bool) { done(c.Name, cached) }); err != nil {
		return err
	}
	for _, name := range more { // gvisor, nfs, calico-VERSION, kubernetes-VERSION
		cached, err := b.One(ctx, name)
		if err != nil {
			return err
		}
		done(name, cached)
	}
	if *machine == "" {
		return nil
	}
	cached, err := b.BuildMachine(ctx, *machine)
	if err != nil {
		return fmt.Errorf("build %s: %w", *machine, err)
	}
	done(*machine, cached)
	return nil
}
