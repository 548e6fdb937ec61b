package rtnl

import (
	"context"
	"net/netip"

	"golang.org/x/sys/unix"
)

// An Address is an address of an interface.
type Address struct {
	Link   int
	Prefix netip.Prefix
}

// Addresses returns the addresses of all interfaces, of both families.
func (s *Socket) Addresses(ctx context.Context, limit int) ([]Address, error) {
	return dump(ctx, s, unix.RTM_GETADDR, make([]byte, unix.SizeofIfAddrmsg), limit, func(m Message, rows []Address) ([]Address, error) {
		if m.Type != unix.RTM_NEWADDR {
			return rows, nil
		}
		a, err := parseAddress(m.Body)
		if err == nil && a.Prefix.IsValid() {
			rows = append(rows, a)
		}
		return rows, err
	})
}

// parseAddress returns no prefix for an address of another family.
func parseAddress(b []byte) (Address, error) {
	var local, address netip.Addr
	err := Attrs(b, unix.SizeofIfAddrmsg, func(kind uint16, v []byte) {
		switch kind {
		case unix.IFA_LOCAL: // the local address; IFA_ADDRESS is the peer's
			local = addr(v)
		case unix.IFA_ADDRESS:
			address = addr(v)
		default:
		}
	})
	if err != nil {
		return Address{}, err
	}
	if !local.IsValid() {
		local = address
	}
	return Address{Link: int(int32(Number(b[4:]))), Prefix: netip.PrefixFrom(local, int(b[1]))}, nil
}
