package kernel

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// A HostRoutes is all routes of the routing tables to exactly one address.
type HostRoutes struct {
	IP     netip.Addr    `json:"ip"`
	Routes []model.Route `json:"routes,omitempty"`
}

// ReadHostRoutes returns the routes to one address.
func ReadHostRoutes(ctx context.Context, o Options, ip netip.Addr) (*HostRoutes, error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return nil, err
	}
	w := &HostRoutes{IP: ip}
	err := asking(func(s *rtnl.Socket) (err error) {
		w.Routes, err = routesTo(ctx, s, ip)
		return err
	})
	return w, err
}

func routesTo(ctx context.Context, s *rtnl.Socket, ip netip.Addr) ([]model.Route, error) {
	all, err := s.Routes(ctx, maxRows)
	if err != nil {
		return nil, fmt.Errorf("list the routes: %w", err)
	}
	return slices.DeleteFunc(all, func(r model.Route) bool { return !r.Dst.IsSingleIP() || r.Dst.Addr() != ip }), nil
}

// alike reports whether two rows are one route.
func alike(a, b *model.Route) bool {
	return a.Dst == b.Dst && a.Gateway == b.Gateway && a.Link == b.Link && a.Table == b.Table && a.Protocol == b.Protocol &&
		a.Type == b.Type && a.Scope == b.Scope && a.Metric == b.Metric
}

// Unroute deletes the route that has all of these attributes, if it is the only one that
// has them and leads to a pod interface of Calico. The routes to its address are read last.
func Unroute(ctx context.Context, o Options, want model.Route, check func(context.Context) error, dry bool) (begun bool, err error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return false, err
	}
	if !want.Dst.IsSingleIP() || want.Gateway.IsValid() || want.Type != "" || want.Table <= 0 || want.Table == unix.RT_TABLE_LOCAL {
		return false, fmt.Errorf("the route to %s is not a pod's host route", want.Dst)
	}
	err = asking(func(s *rtnl.Socket) error {
		if err := check(ctx); err != nil {
			return err
		}
		d, err := s.Link(ctx, want.Link)
		switch {
		case err != nil:
			return err
		case !calicos(d.Name):
			return fmt.Errorf("%s is not a pod interface of Calico", d.Name)
		}
		there, err := routesTo(ctx, s, want.Dst.Addr())
		if err != nil {
			return err
		}
		there = slices.DeleteFunc(there, func(r model.Route) bool { return !alike(&r, &want) })
		switch {
		case len(there) == 0:
			return fmt.Errorf("the route to %s: %w", want.Dst, ErrGone)
		case len(there) > 1:
			return fmt.Errorf("%d equal routes to %s, expected one", len(there), want.Dst)
		case dry:
			return nil
		}
		err = s.DeleteRoute(ctx, want)
		begun = !refused(err)
		return err
	})
	return begun, err
}
