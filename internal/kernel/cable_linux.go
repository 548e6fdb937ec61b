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

// ErrGone means that what was to be changed is not there any more.
var ErrGone = rtnl.ErrGone

// A HostVeth is a pod's device on the host, with what tells it from every other that has, or
// will have, its name.
type HostVeth struct {
	Name   string `json:"name"`
	Index  int    `json:"index"`
	Kind   string `json:"kind,omitempty"`
	MAC    string `json:"mac,omitempty"`
	Peer   int    `json:"peer,omitempty"` // index of the other end
	Away   bool   `json:"away,omitempty"` // the other end is in another namespace
	PeerID int32  `json:"peerID,omitempty"`
	PeerNS uint64 `json:"peerNS,omitempty"` // inode of that; 0 if no process lives in it and no file pins it
	Lived  bool   `json:"lived,omitempty"`  // a process lives there
	Pinned string `json:"pinned,omitempty"` // a file that pins it
}

// prefix is how Calico names the devices of pods.
const prefix = "cali"

// Calicos tells that a device has the name of one of Calico's for a pod.
func Calicos(name string) bool {
	return len(name) > len(prefix) && strings.HasPrefix(name, prefix) && fileName(name)
}

// ReadHostVeth gives the device of that name; nil if there is none.
func ReadHostVeth(ctx context.Context, o Options, name string) (*HostVeth, error) {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return nil, err
	}
	var c *HostVeth
	err := asking(func(s *rtnl.Socket) error {
		devices, err := s.Links(ctx, maxRows)
		if err != nil {
			return fmt.Errorf("devices: %w", err)
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

// hostVeth reads a device, then what is behind it, then the device again: a number means one
// namespace only as long as a device has its other end there.
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
		return nil, fmt.Errorf("device %d changes while it is read", index)
	}
	return c, nil
}

// same tells that two readings are of one device with one other end.
func same(a, b *rtnl.Device) bool {
	return a.Index == b.Index && a.Name == b.Name && a.Kind == b.Kind && a.MAC == b.MAC && a.Peer == b.Peer && a.Away == b.Away && a.AwayID == b.AwayID
}

// refused tells that the kernel itself said no: then nothing was done. An answer that did
// not come leaves it open.
func refused(err error) bool {
	var no *rtnl.Refusal
	return errors.As(err, &no)
}

// routesBy gives the routes that lead to a device.
func routesBy(ctx context.Context, s *rtnl.Socket, index int) ([]model.Route, error) {
	all, err := s.Routes(ctx, maxRows)
	if err != nil {
		return nil, fmt.Errorf("routes: %w", err)
	}
	return slices.DeleteFunc(all, func(r model.Route) bool { return r.Link != index }), nil
}
