package kernel

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// A NeighbourEntry is one entry of the host's neighbour table.
type NeighbourEntry struct {
	IP     netip.Addr `json:"ip"`
	Device string     `json:"device"`
	Link   int        `json:"link"`
	MAC    string     `json:"mac,omitempty"`
	State  string     `json:"state"`
}

// ReadNear returns the entry of an address on an interface; nil if there is none.
func ReadNear(ctx context.Context, o Options, ip netip.Addr, device string) (*NeighbourEntry, error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return nil, err
	}
	var n *NeighbourEntry
	err := asking(func(s *rtnl.Socket) (err error) {
		n, err = neighbourEntry(ctx, s, ip, device)
		return err
	})
	return n, err
}

// neighbourEntry reads the interfaces first: an entry is removed with its interface, and
// interface indexes are not reused.
func neighbourEntry(ctx context.Context, s *rtnl.Socket, ip netip.Addr, device string) (*NeighbourEntry, error) {
	devices, err := s.Links(ctx, maxRows)
	if err != nil {
		return nil, fmt.Errorf("list the interfaces: %w", err)
	}
	d := slices.IndexFunc(devices, func(d rtnl.Device) bool { return d.Name == device })
	if d < 0 {
		return nil, nil
	}
	rows, err := s.Neighbours(ctx, maxRows)
	if err != nil {
		return nil, fmt.Errorf("list the neighbours: %w", err)
	}
	i := slices.IndexFunc(rows, func(n model.Neighbour) bool { return n.IP == ip && n.Link == devices[d].Index && !n.Proxy })
	if i < 0 {
		return nil, nil
	}
	return &NeighbourEntry{IP: ip, Device: device, Link: rows[i].Link, MAC: rows[i].MAC, State: rows[i].State}, nil
}

// Unneighbour deletes a permanent entry, which nothing else would remove. The kernel cannot
// compare the MAC address: it is read immediately before.
func Unneighbour(ctx context.Context, o Options, want NeighbourEntry, check func(context.Context) error, dry bool) (begun bool, err error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return false, err
	}
	switch {
	case !calicos(want.Device):
		return false, fmt.Errorf("%s is not a pod interface of Calico", want.Device)
	case want.State != "PERMANENT":
		return false, fmt.Errorf("the entry of %s on %s is not permanent: the kernel removes it by itself", want.IP, want.Device)
	}
	err = asking(func(s *rtnl.Socket) error {
		if err := check(ctx); err != nil {
			return err
		}
		n, err := neighbourEntry(ctx, s, want.IP, want.Device)
		switch {
		case err != nil:
			return err
		case n == nil:
			return fmt.Errorf("the entry of %s on %s: %w", want.IP, want.Device, ErrGone)
		case *n != want:
			return fmt.Errorf("the entry of %s on %s has changed", want.IP, want.Device)
		case dry:
			return nil
		}
		err = s.DeleteNeighbour(ctx, want.Link, want.IP)
		begun = !refused(err)
		return err
	})
	return begun, err
}
