package kernel

import (
	"context"
	"fmt"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// An Unlinking is a device that is to be deleted.
type Unlinking struct {
	HostVeth
	// Pin is the namespace, by its inode, that a file may still pin: whoever plans knew
	// that, and that no sandbox has it. A process in it is never forgiven.
	Pin uint64
	// Check is asked with the routes that lead to the device, before it is read for the
	// last time.
	Check func(ctx context.Context, routes []model.Route) error
	Dry   bool
}

// Unlink deletes a device by its index, in the session that has just read it: ADD of a pod
// of the same name deletes it and makes another of that name. Begun tells that the kernel
// was told to; an error before that means that nothing was done.
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
			return fmt.Errorf("device %d is not what it was", u.Index)
		case u.Dry:
			return nil
		}
		err = s.DeleteLink(ctx, u.Index)
		begun = !refused(err)
		return err
	})
	return begun, err
}

// abandoned tells what speaks for the device's being used, from what it is.
func abandoned(u *Unlinking) error {
	switch {
	case !Calicos(u.Name):
		return fmt.Errorf("%s is no device of Calico's", u.Name)
	case u.Kind != "veth" || u.Peer <= 0:
		return fmt.Errorf("%s is no veth with another end", u.Name)
	case u.Away && (u.PeerID < 0 || u.PeerNS == 0):
		return fmt.Errorf("the kernel does not tell where the other end of %s is", u.Name)
	case u.Lived:
		return fmt.Errorf("a process lives behind %s", u.Name)
	case u.Pinned != "" && (u.Pin == 0 || u.Pin != u.PeerNS):
		return fmt.Errorf("%s pins what is behind %s", u.Pinned, u.Name)
	}
	return nil
}

// unused asks the kernel whether anything of the host goes by the device.
func (u *Unlinking) unused(ctx context.Context, s *rtnl.Socket) error {
	ends := map[int]bool{u.Index: true}
	if !u.Away {
		other, err := s.Link(ctx, u.Peer)
		switch {
		case err != nil:
			return err
		case other.Away || other.Peer != u.Index:
			return fmt.Errorf("device %d is not the other end of %s", u.Peer, u.Name)
		}
		ends[u.Peer] = true
		routes, err := routesBy(ctx, s, u.Peer)
		if err == nil && len(routes) > 0 {
			err = fmt.Errorf("%d routes lead to the other end of %s, on the host", len(routes), u.Name)
		}
		if err != nil {
			return err
		}
	}
	addrs, err := s.Addresses(ctx, maxRows)
	if err != nil {
		return fmt.Errorf("addresses: %w", err)
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
