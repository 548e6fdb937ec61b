package kernel

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// An Unlinking is an interface to delete, and the conditions for it.
type Unlinking struct {
	HostVeth
	// Pin is the inode of the namespace that a file may still pin: the plan has verified
	// that, and that no sandbox has it. A process in it always prevents the deletion.
	Pin uint64
	// Check is called with the routes through the interface, before its last read.
	Check func(ctx context.Context, routes []model.Route) error
	Dry   bool
}

// Unlink deletes an interface by its index, over the socket that has just read it: an ADD
// of a pod of the same name deletes it and creates another of that name. Invariant: begun
// is false until the delete request was sent, so an error with begun false means that
// nothing was changed.
func Unlink(ctx context.Context, o Options, u Unlinking) (begun bool, err error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return false, err
	}
	err = asking(func(s *rtnl.Socket) error {
		if _, err := s.Link(ctx, u.Index); err != nil {
			return err
		}
		if err := abandoned(&u); err != nil {
			return err
		}
		if err := u.unused(ctx, s); err != nil {
			return err
		}
		c, err := hostVeth(ctx, s, o, u.Index)
		switch {
		case err != nil:
			return err
		case *c != u.HostVeth:
			return fmt.Errorf("interface %d has changed", u.Index)
		case u.Dry:
			return nil
		}
		err = s.DeleteLink(ctx, u.Index)
		begun = !refused(err)
		return err
	})
	return begun, err
}

// abandoned refuses an interface that by its own state may be in use.
func abandoned(u *Unlinking) error {
	switch {
	case !calicos(u.Name):
		return fmt.Errorf("%s is not a pod interface of Calico", u.Name)
	case u.Kind != "veth" || u.Peer <= 0:
		return fmt.Errorf("%s is not a veth with a peer", u.Name)
	case u.Away && (u.PeerID < 0 || u.PeerNS == 0):
		return fmt.Errorf("the kernel does not report the network namespace of the peer of %s", u.Name)
	case u.Lived:
		return fmt.Errorf("a process runs in the network namespace behind %s", u.Name)
	case u.Pinned != "" && (u.Pin == 0 || u.Pin != u.PeerNS):
		return fmt.Errorf("%s pins the network namespace behind %s", u.Pinned, u.Name)
	}
	return nil
}

// unused refuses an interface that the host uses, according to the kernel.
func (u *Unlinking) unused(ctx context.Context, s *rtnl.Socket) error {
	ends := map[int]bool{u.Index: true}
	if !u.Away {
		other, err := s.Link(ctx, u.Peer)
		switch {
		case err != nil:
			return err
		case other.Away || other.Peer != u.Index:
			return fmt.Errorf("interface %d is not the peer of %s", u.Peer, u.Name)
		}
		ends[u.Peer] = true
		routes, err := routesBy(ctx, s, u.Peer)
		if err == nil && len(routes) > 0 {
			err = fmt.Errorf("%d routes on the host lead to the peer of %s", len(routes), u.Name)
		}
		if err != nil {
			return err
		}
	}
	addrs, err := s.Addresses(ctx, maxRows)
	if err != nil {
		return fmt.Errorf("list the addresses: %w", err)
	}
	for _, a := range addrs {
		if ends[a.Link] && !a.Prefix.Addr().IsLinkLocalUnicast() {
			return fmt.Errorf("the host has the address %s on %s", a.Prefix.Addr(), u.Name)
		}
	}
	routes, err := routesBy(ctx, s, u.Index)
	if err != nil {
		return err
	}
	return u.Check(ctx, routes)
}
