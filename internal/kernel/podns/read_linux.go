package podns

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// maxRows bounds each table of one namespace: pods can fill their namespaces.
const maxRows = 1_000

// Read returns the interfaces inside an open namespace, or one row without an interface.
// The rows do not name the owner of the namespace.
func Read(ctx context.Context, ns *os.File) ([]model.Attachment, error) {
	var rows []model.Attachment
	err := visit(func(v *visitor) error {
		inode, err := inodeOf(ns)
		if err != nil {
			return err
		}
		rows, err = v.read(ctx, ns, &Namespace{Inode: inode, Path: ns.Name()})
		return err
	})
	return rows, err
}

// read reads one namespace.
func (v *visitor) read(ctx context.Context, f *os.File, n *Namespace) ([]model.Attachment, error) {
	s, err := v.socket(f)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	host, err := inodeOf(v.home)
	if err != nil {
		return nil, err
	}
	// Peers are named by IDs of this namespace: only the host's is known.
	hostID, err := s.NSID(ctx, int(v.home.Fd()))
	if err != nil {
		return nil, err
	}
	links, err := s.Links(ctx, maxRows)
	if err != nil && !errors.Is(err, rtnl.ErrPartial) {
		return nil, fmt.Errorf("list the interfaces of %s: %w", n.Path, err)
	}
	var rows []model.Attachment
	for i := range links {
		d := &links[i]
		row := n.row()
		row.Device, row.Index, row.MAC, row.Up, row.MTU, row.Peer = d.Name, d.Index, d.MAC, d.Up, d.MTU, d.Peer
		switch {
		case !d.Pair():
		case !d.Away:
			row.PeerNS = n.Inode
		case d.AwayID == hostID && hostID >= 0:
			row.PeerNS = host
		}
		rows = append(rows, row)
	}
	if err == nil {
		err = fill(ctx, s, rows)
	}
	rows = slices.DeleteFunc(rows, idleLoopback)
	if len(rows) == 0 && err == nil {
		rows = append(rows, n.row())
	}
	if err != nil {
		err = fmt.Errorf("read the network namespace %s: %w", n.Path, err)
	}
	return rows, err
}

// idleLoopback reports whether a row is a loopback with only its own address; one with more
// addresses is treated like any interface.
func idleLoopback(a model.Attachment) bool {
	return a.Device == "lo" && !slices.ContainsFunc(a.IPs, func(p netip.Prefix) bool { return !p.Addr().IsLoopback() })
}

func (n *Namespace) row() model.Attachment {
	return model.Attachment{NetNS: n.Path, Inode: n.Inode, PIDs: n.PIDs, Pinned: n.Pinned}
}

// fill adds addresses, routes and neighbours to their interfaces.
func fill(ctx context.Context, s *rtnl.Socket, rows []model.Attachment) error {
	if len(rows) == 0 {
		return nil
	}
	at := make(map[int]*model.Attachment, len(rows))
	for i := range rows {
		at[rows[i].Index] = &rows[i]
	}
	addrs, err := s.Addresses(ctx, maxRows)
	for _, a := range addrs {
		if row := at[a.Link]; row != nil && !a.Prefix.Addr().IsLinkLocalUnicast() {
			row.IPs = append(row.IPs, a.Prefix)
		}
	}
	if err != nil {
		return fmt.Errorf("list the addresses: %w", err)
	}
	routes, err := s.Routes(ctx, maxRows)
	for _, r := range routes {
		row := at[r.Link]
		if r.Link == 0 {
			row = &rows[len(rows)-1] // it belongs to no interface
		}
		if row != nil && r.Type != "local" {
			row.Routes = append(row.Routes, r)
		}
	}
	if err != nil {
		return fmt.Errorf("list the routes: %w", err)
	}
	near, err := s.Neighbours(ctx, maxRows)
	for _, n := range near {
		if row := at[n.Link]; row != nil {
			row.Neighbours = append(row.Neighbours, n)
		}
	}
	if err != nil {
		return fmt.Errorf("list the neighbours: %w", err)
	}
	return nil
}

// addresses returns the addresses inside an open namespace.
func (v *visitor) addresses(ctx context.Context, f *os.File) ([]netip.Addr, error) {
	s, err := v.socket(f)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rows, err := s.Addresses(ctx, maxRows)
	var out []netip.Addr
	for _, a := range rows {
		if ip := a.Prefix.Addr(); !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			out = append(out, ip)
		}
	}
	return out, err
}
