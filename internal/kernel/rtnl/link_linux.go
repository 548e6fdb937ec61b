package rtnl

import (
	"context"
	"net"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// A Device is a network device with what is needed to find its other end.
type Device struct {
	model.Link
	Loopback bool
	Away     bool  // its other end is in another namespace
	AwayID   int32 // which has this number in this one
}

// skipStats spares the kernel the counters, which are most of an answer.
const skipStats = 1 << 3 // RTEXT_FILTER_SKIP_STATS

// Links gives the devices of the namespace, without their addresses.
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
		case unix.IFLA_LINK:
			parent = int(int32(Number(v)))
		case unix.IFLA_LINK_NETNSID:
			d.Away, d.AwayID = true, int32(Number(v))
		case unix.IFLA_LINKINFO:
			// What is malformed inside has no kind; the device is there all the same.
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
	// A VLAN names its parent in the same place: that is not another end.
	if d.Pair() {
		d.Peer = parent
	} else {
		d.Away, d.AwayID = false, 0
	}
	return d, nil
}

// Pair tells that the device has another end.
func (d *Device) Pair() bool { return d.Kind == "veth" || d.Kind == "netkit" }

// mac writes a hardware address; that of a loopback, or of a device without one, is empty.
func mac(v []byte) string {
	for _, c := range v {
		if c != 0 {
			return net.HardwareAddr(v).String()
		}
	}
	return ""
}
