package kernel

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// tunnelled sets where the forwarding databases of VXLAN interfaces send the packets of neighbours. It
// asks for none if there is no such interface.
func tunnelled(ctx context.Context, s *rtnl.Socket, neighbours []model.Neighbour) error {
	devices, err := s.Links(ctx, maxRows)
	if err != nil {
		return fmt.Errorf("list the interfaces: %w", err)
	}
	vxlan := map[int]bool{}
	for i := range devices {
		if devices[i].Kind == "vxlan" {
			vxlan[devices[i].Index] = true
		}
	}
	if len(vxlan) == 0 {
		return nil
	}
	entries, err := s.Forwards(ctx, maxRows)
	if err != nil {
		return fmt.Errorf("list the forwarding databases: %w", err)
	}
	type at struct {
		link int
		mac  string
	}
	to := map[at]string{}
	for _, f := range entries {
		to[at{f.Link, f.MAC}] = f.To.Unmap().String()
	}
	for i := range neighbours {
		n := &neighbours[i]
		if !vxlan[n.Link] || n.MAC == "" || n.Proxy {
			continue
		}
		if n.FDB = to[at{n.Link, n.MAC}]; n.FDB == "" {
			n.FDB = model.NoFDB
		}
	}
	return nil
}
