package rtnl

import (
	"context"
	"net"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// A Device is a network interface with what is needed to find its peer.
type Device struct {
	model.Link
	Loopback bool
	Away     bool  // its peer is in another namespace
	AwayID   int32 // ID of that namespace in this one
}

// skipStats omits the counters, which are most of an answer.
const skipStats = 1 << 3 // RTEXT_FILTER_SKIP_STATS

// Links returns the interfaces of the namespace, without their addresses.
func (s *Socket) Links(ctx context.Context, limit int) ([]Device, error) {
	body := put(make([]byte, unix.SizeofIfInfomsg), unix.IFLA_EXT_MASK, native.AppendUint32(nil, skipStats))
	return dump(ctx, s, unix.RTM_GETLINK, body, limit, func(m Message, rows []Device) ([]Device, error) {
		if m.Type != unix.RTM_NEWLINK {
			return rows, nil
		}
		d, err := parseLink(m.Body)
		return append(rows, d), err
	})
}

func parseLink(b []byte) (Device, error) {
	var d Device
	parent := 0
	err := Attrs(b, unix.SizeofIfInfomsg, func(kind uint16, v []byte) {
		switch kind {
		case unix.IFLA_IFNAME:
			d.Name = text(v)
		case unix.IFLA_ADDRESS:
			d.MAC = mac(v)
		case unix.IFLA_MTU:
			d.MTU = int(Number(v))
		case unix.IFLA_LINK:
			parent = int(int32(Number(v)))
		case unix.IFLA_LINK_NETNSID:
			d.Away, d.AwayID = true, int32(Number(v))
		case unix.IFLA_LINKINFO:
			// A malformed attribute leaves the kind empty; the interface exists all the
			// same.
			_ = Attrs(v, 0, func(kind uint16, v []byte) {
				if kind == unix.IFLA_INFO_KIND {
					d.Kind = text(v)
				}
			})
		default:
		}
	})
	if err != nil {
		return d, err
	}
	d.Index = int(int32(Number(b[4:])))
	flags := Number(b[8:])
	d.Up = flags&unix.IFF_UP != 0
	d.Loopback = flags&unix.IFF_LOOPBACK != 0
	// A VLAN has its parent in the same attribute: that is not a peer.
	if d.Pair() {
		d.Peer = parent
	} else {
		d.Away, d.AwayID = false, 0
	}
	return d, nil
}

// Pair reports whether the interface has a peer.
func (d *Device) Pair() bool { return d.Kind == "veth" || d.Kind == "netkit" }

// mac formats a hardware address; empty for a loopback or an interface without one.
func mac(v []byte) string {
	for _, c := range v {
		if c != 0 {
			return net.HardwareAddr(v).String()
		}
	}
	return ""
}
