package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/model"
)

// unneighbour deletes a static neighbour entry that sends packets for a pod's address to
// the wrong MAC address. Args: link (interface index) and mac, as in the plan.
func (s *Server) unneighbour(ctx context.Context, t *readState, args map[string]string, dry bool) (bool, error) {
	n, ok := t.body.(*kernel.NeighbourEntry)
	if !ok {
		return false, errors.New("not a neighbour")
	}
	link, err := number(args, "link")
	if err != nil || link != n.Link || !strings.EqualFold(args["mac"], n.MAC) {
		return false, errors.Join(err, fmt.Errorf("the entry is on interface index %d with MAC address %s", n.Link, n.MAC))
	}
	return kernel.Unneighbour(ctx, s.writer.Kernel, *n, func(ctx context.Context) error {
		f, host, err := s.inside(ctx)
		if err != nil {
			return err
		}
		if a := owner(f, n.Link, host, n.IP); a != nil && strings.EqualFold(a.MAC, n.MAC) {
			return fmt.Errorf("the entry is correct: the pod behind %s has %s and that MAC address", n.Device, n.IP)
		}
		return nil
	}, dry)
}

// unroute deletes a host route that leads to another pod's interface. Args: link, protocol,
// and table and metric if they are not the defaults.
func (s *Server) unroute(ctx context.Context, t *readState, args map[string]string, dry bool) (bool, error) {
	w, want, err := routeOf(t, args)
	if err != nil {
		return false, err
	}
	there := slices.DeleteFunc(slices.Clone(w.Routes), func(r model.Route) bool {
		return r.Link != want.Link || r.Table != want.Table || r.Protocol != want.Protocol || args["metric"] != "" && r.Metric != want.Metric
	})
	switch len(there) {
	case 0:
		return false, errAlready
	case 1:
	default:
		return false, fmt.Errorf("%d routes match, expected one", len(there))
	}
	return kernel.Unroute(ctx, s.writer.Kernel, there[0], func(ctx context.Context) error {
		f, host, err := s.inside(ctx)
		if err != nil {
			return err
		}
		if owner(f, want.Link, host, w.IP) != nil {
			return fmt.Errorf("the route is correct: the pod behind interface index %d has %s", want.Link, w.IP)
		}
		return s.quiet(ctx)
	}, dry)
}

// routeOf reads the arguments that identify a route.
func routeOf(t *readState, args map[string]string) (*kernel.HostRoutes, model.Route, error) {
	w, ok := t.body.(*kernel.HostRoutes)
	if !ok {
		return nil, model.Route{}, errors.New("not a path")
	}
	var err error
	r := model.Route{Table: unix.RT_TABLE_MAIN}
	for _, a := range []struct {
		name string
		into *int
		must bool
	}{{"link", &r.Link, true}, {"protocol", &r.Protocol, true}, {"table", &r.Table, false}, {"metric", &r.Metric, false}} {
		if args[a.name] != "" || a.must {
			var bad error
			*a.into, bad = number(args, a.name)
			err = errors.Join(err, bad)
		}
	}
	return w, r, err
}

// sysctl changes a setting of a pod's host interface. Args: index, of the interface, and
// value.
func (s *Server) sysctl(ctx context.Context, t *readState, args map[string]string, dry bool) (bool, error) {
	v, ok := t.body.(*kernel.Setting)
	if !ok {
		return false, errors.New("not a setting")
	}
	index, err := number(args, "index")
	if err != nil || index != v.Index {
		return false, errors.Join(err, fmt.Errorf("%s has index %d", v.Device, v.Index))
	}
	if v.Value == args["value"] {
		return false, errAlready
	}
	return kernel.Set(ctx, s.writer.Kernel, *v, args["value"], func(context.Context) error { return nil }, dry)
}

// inside reads sandboxes and attachments, with the inode of the host's network namespace.
func (s *Server) inside(ctx context.Context) (*model.NodeState, uint64, error) {
	host, err := podns.Host()
	if err != nil {
		return nil, 0, err
	}
	f, err := s.fresh(ctx, model.Sandboxes, model.Attachments)
	return f, host, err
}
