package kernel

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

func readLinks(ctx context.Context, o Options, f *model.NodeState) error {
	host, err := podns.Host()
	if err != nil {
		return err
	}
	return asking(func(s *rtnl.Socket) error {
		before, err := s.Links(ctx, maxRows)
		if err != nil {
			return fmt.Errorf("list the interfaces: %w", err)
		}
		// The namespaces of the peers are optional: without them the interfaces are still
		// complete.
		names, err := podns.IDs(ctx, o.Proc, o.Root)
		if err != nil {
			names = nil
		}
		devices, err := s.Links(ctx, maxRows)
		at := place(f, host, names, before, devices)
		if err != nil {
			return fmt.Errorf("list the interfaces: %w", err)
		}
		addrs, err := s.Addresses(ctx, maxRows)
		for _, a := range addrs {
			if i, ok := at[a.Link]; ok {
				f.Links[i].IPs = append(f.Links[i].IPs, a.Prefix)
			}
		}
		if err != nil {
			return fmt.Errorf("list the addresses: %w", err)
		}
		return nil
	})
}

// place adds the interfaces with the namespaces of their peers, and returns the index of
// each. Namespace IDs are reused when a namespace ends, so an interface gets the namespace
// only if it existed before the IDs were read and still does: all that time its peer, and
// with it the namespace, existed.
func place(f *model.NodeState, host uint64, names map[int32]uint64, before, devices []rtnl.Device) map[int]int {
	was := make(map[int]int32, len(before))
	for _, d := range before {
		if d.Away && d.AwayID >= 0 {
			was[d.Index] = d.AwayID
		}
	}
	at := make(map[int]int, len(devices))
	for i, d := range devices {
		id, known := was[d.Index]
		switch {
		case !d.Pair():
		case !d.Away:
			d.PeerNS = host
		case known && id == d.AwayID:
			d.PeerNS = names[id]
		}
		at[d.Index] = i
		f.Links = append(f.Links, d.Link)
	}
	return at
}
