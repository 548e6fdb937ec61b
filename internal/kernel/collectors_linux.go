package kernel

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Options say where the host's file systems are.
type Options struct {
	Proc   string // procfs of the host's PID namespace; /proc if empty
	Root   string // the host's file system; / if empty
	Buffer int    // bytes of the receive buffer of Watch's socket; 4 MiB if zero
}

func (o Options) withDefaults() Options {
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	if o.Root == "" {
		o.Root = "/"
	}
	if o.Buffer == 0 {
		o.Buffer = 4 << 20
	}
	return o
}

// maxRows bounds each table of the host.
const maxRows = 100_000

// Collectors returns the collectors of the kernel's tables. A failure of one does not
// affect the others.
func Collectors(o Options) []observe.NodeCollector {
	o = o.withDefaults()
	collector := func(name string, read func(context.Context, Options, *model.NodeState) error, tables ...model.Table) observe.NodeCollector {
		return observe.NodeCollector{Name: name, Tables: tables, Read: func(ctx context.Context, f *model.NodeState) error {
			if err := o.atHome(); err != nil {
				return err
			}
			return told(read(ctx, o, f))
		}}
	}
	return []observe.NodeCollector{
		collector("links", readLinks, model.Links),
		collector("routes", readRoutes, model.Routes, model.Rules),
		collector("neighbours", readNeighbours, model.Neighbours),
		collector("sysctls", readSysctls, model.Sysctls),
		collector("namespaces", readNamespaces, model.Attachments),
		collector("paths", readPaths, model.Paths),
		collector("firewall", readFirewall, model.Firewall),
	}
}

// atHome verifies that this process is in the network namespace of the host's first
// process: anywhere else a pod's network would be taken for the host's, and the host's for
// a pod's.
func (o Options) atHome() error {
	own, err := podns.Host()
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if err := unix.Stat(o.Proc+"/1/ns/net", &st); err != nil {
		return fmt.Errorf("read the network namespace of the host's first process: %w", err)
	}
	if st.Ino != own {
		return errors.New("this process is not in the host's network namespace: run it with hostNetwork")
	}
	return nil
}

// told converts rtnl.ErrPartial to observe.ErrPartial.
func told(err error) error {
	var blind observe.TableErrors
	switch {
	case errors.As(err, &blind):
		for t, e := range blind {
			blind[t] = told(e)
		}
		return blind
	case errors.Is(err, rtnl.ErrPartial):
		return fmt.Errorf("%w: %w", observe.ErrPartial, err)
	default:
		return err
	}
}

// asking opens a socket in the host's namespace for as long as f runs.
func asking(f func(s *rtnl.Socket) error) error {
	s, err := rtnl.Open()
	if err != nil {
		return err
	}
	defer s.Close()
	return f(s)
}

func readNamespaces(ctx context.Context, o Options, f *model.NodeState) (err error) {
	f.Attachments, err = podns.All(ctx, o.Proc, o.Root)
	return err
}

func readNeighbours(ctx context.Context, _ Options, f *model.NodeState) error {
	return asking(func(s *rtnl.Socket) (err error) {
		if f.Neighbours, err = s.Neighbours(ctx, maxRows); err != nil {
			return err
		}
		return tunnelled(ctx, s, f.Neighbours)
	})
}

func readRoutes(ctx context.Context, _ Options, f *model.NodeState) error {
	blind := observe.TableErrors{}
	note := func(t model.Table, err error) {
		if err != nil {
			blind[t] = err
		}
	}
	note(model.Routes, asking(func(s *rtnl.Socket) (err error) {
		f.Routes, err = s.Routes(ctx, maxRows)
		return err
	}))
	note(model.Rules, asking(func(s *rtnl.Socket) (err error) {
		f.Rules, err = s.Rules(ctx, maxRows)
		return err
	}))
	if len(blind) == 0 {
		return nil
	}
	return blind
}
