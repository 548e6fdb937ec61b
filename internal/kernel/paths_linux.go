package kernel

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// maxPaths is how many addresses the kernel is asked about.
const maxPaths = 20_000

// readPaths asks for the path to every address in a namespace, and to every address with a
// host route of its own. If some addresses could not be read, the others are still asked
// about.
func readPaths(ctx context.Context, o Options, f *model.NodeState) error {
	inside, errInside := podns.Addresses(ctx, o.Proc, o.Root)
	if errInside != nil && !errors.Is(errInside, rtnl.ErrPartial) {
		return errInside
	}
	return pathsTo(ctx, inside, errInside, f)
}

// pathsTo asks for the path to addresses, and to those with a host route of their own.
func pathsTo(ctx context.Context, inside []netip.Addr, errInside error, f *model.NodeState) error {
	var routes []model.Route
	errRoutes := asking(func(s *rtnl.Socket) (err error) {
		routes, err = s.Routes(ctx, maxRows)
		return err
	})
	if errRoutes != nil && !errors.Is(errRoutes, rtnl.ErrPartial) {
		return errRoutes
	}
	asked := targets(inside, routes)
	var errMany error
	if len(asked) > maxPaths {
		asked, errMany = asked[:maxPaths], fmt.Errorf("%w: there are more than %d addresses", rtnl.ErrPartial, maxPaths)
	}
	return asking(func(s *rtnl.Socket) error {
		for _, ip := range asked {
			p, err := s.Path(ctx, ip)
			if err != nil {
				return err
			}
			f.Paths = append(f.Paths, p)
		}
		return errors.Join(errInside, errRoutes, errMany)
	})
}

// gateway is the next hop of every pod with Calico: the kernel answers for it only if it
// has a route to it.
var gateway = netip.AddrFrom4([4]byte{169, 254, 1, 1})

// targets returns the addresses to ask about, each once, in order.
func targets(inside []netip.Addr, routes []model.Route) []netip.Addr {
	out := append(slices.Clone(inside), gateway)
	for _, r := range routes {
		if r.Dst.IsSingleIP() && r.Link != 0 && r.Type == "" {
			out = append(out, r.Dst.Addr())
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out)
}
