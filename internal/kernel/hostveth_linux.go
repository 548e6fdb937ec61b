package kernel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/kernel/podns"
	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// ErrGone means that the object to change does not exist any more.
var ErrGone = rtnl.ErrGone

// A HostVeth is the host interface of a pod, with what distinguishes it from every other
// interface that has or will have its name.
type HostVeth struct {
	Name   string `json:"name"`
	Index  int    `json:"index"`
	Kind   string `json:"kind,omitempty"`
	MAC    string `json:"mac,omitempty"`
	Peer   int    `json:"peer,omitempty"` // index of the other end
	Away   bool   `json:"away,omitempty"` // the other end is in another namespace
	PeerID int32  `json:"peerID,omitempty"`
	PeerNS uint64 `json:"peerNS,omitempty"` // inode of that; 0 if no process lives in it and no file pins it
	Lived  bool   `json:"inUse,omitempty"`  // a process runs in it
	Pinned string `json:"pinned,omitempty"` // a file that pins it
}

// prefix is the prefix of Calico's pod interfaces.
const prefix = "cali"

// calicos reports whether a name is that of a pod interface of Calico.
func calicos(name string) bool {
	return len(name) > len(prefix) && strings.HasPrefix(name, prefix) && fileName(name)
}

// ReadHostVeth returns the interface of that name; nil if there is none.
func ReadHostVeth(ctx context.Context, o Options, name string) (*HostVeth, error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return nil, err
	}
	var c *HostVeth
	err := asking(func(s *rtnl.Socket) error {
		devices, err := s.Links(ctx, maxRows)
		if err != nil {
			return fmt.Errorf("list the interfaces: %w", err)
		}
		i := slices.IndexFunc(devices, func(d rtnl.Device) bool { return d.Name == name })
		if i < 0 {
			return nil
		}
		c, err = hostVeth(ctx, s, o, devices[i].Index)
		if errors.Is(err, ErrGone) {
			c, err = nil, nil
		}
		return err
	})
	return c, err
}

// hostVeth reads the interface, then the namespace of its peer, then the interface again: a
// namespace ID is valid only as long as an interface has its peer there.
func hostVeth(ctx context.Context, s *rtnl.Socket, o Options, index int) (*HostVeth, error) {
	d, err := s.Link(ctx, index)
	if err != nil {
		return nil, err
	}
	c := &HostVeth{Name: d.Name, Index: d.Index, Kind: d.Kind, MAC: d.MAC, Peer: d.Peer, Away: d.Away, PeerID: d.AwayID}
	if d.Pair() && d.Away && d.AwayID >= 0 {
		n, err := podns.Behind(ctx, o.Proc, o.Root, d.AwayID)
		if err != nil {
			return nil, err
		}
		if n != nil {
			c.PeerNS, c.Lived = n.Inode, n.PIDs > 0
			if n.Pinned {
				c.Pinned = n.Path
			}
		}
	}
	again, err := s.Link(ctx, index)
	if err != nil {
		return nil, err
	}
	if !same(&d, &again) {
		return nil, fmt.Errorf("interface %d changed while it was read", index)
	}
	return c, nil
}

// same reports whether two reads are of one interface with one peer.
func same(a, b *rtnl.Device) bool {
	return a.Index == b.Index && a.Name == b.Name && a.Kind == b.Kind && a.MAC == b.MAC && a.Peer == b.Peer && a.Away == b.Away && a.AwayID == b.AwayID
}

// refused reports whether the kernel itself refused: then nothing was changed. Without an
// answer that is unknown.
func refused(err error) bool {
	var no *rtnl.Refusal
	return errors.As(err, &no)
}

// routesBy returns the routes through an interface.
func routesBy(ctx context.Context, s *rtnl.Socket, index int) ([]model.Route, error) {
	all, err := s.Routes(ctx, maxRows)
	if err != nil {
		return nil, fmt.Errorf("list the routes: %w", err)
	}
	return slices.DeleteFunc(all, func(r model.Route) bool { return r.Link != index }), nil
}
