package rtnl

import (
	"context"
	"net/netip"

	"golang.org/x/sys/unix"
)

// A Forward is an entry of a VXLAN interface's forwarding database.
type Forward struct {
	Link int
	MAC  string
	To   netip.Addr // where packets to the MAC are sent
}

// Forwards returns the entries that name an address; those of bridges do not.
func (s *Socket) Forwards(ctx context.Context, limit int) ([]Forward, error) {
	body := make([]byte, unix.SizeofIfInfomsg) // kernels before 5.0 read struct ifinfomsg here
	body[0] = unix.AF_BRIDGE
	return dump(ctx, s, unix.RTM_GETNEIGH, body, limit, func(m Message, rows []Forward) ([]Forward, error) {
		if m.Type != unix.RTM_NEWNEIGH {
			return rows, nil
		}
		f, err := parseForward(m.Body)
		if err == nil && f.To.IsValid() && f.MAC != "" {
			rows = append(rows, f)
		}
		return rows, err
	})
}

func parseForward(b []byte) (f Forward, err error) {
	err = Attrs(b, unix.SizeofNdMsg, func(kind uint16, v []byte) {
		switch kind {
		case unix.NDA_DST:
			f.To = addr(v)
		case unix.NDA_LLADDR:
			f.MAC = mac(v)
		default:
		}
	})
	if err != nil {
		return f, err
	}
	if b[0] != unix.AF_BRIDGE {
		return Forward{}, nil
	}
	f.Link = int(int32(Number(b[4:])))
	return f, nil
}
