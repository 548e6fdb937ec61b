package rtnl

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// The functions below are the only ones that change anything. Each identifies one object by
// the kernel's own numbers: a name may belong to another by the time that the kernel reads
// it.

// DeleteLink deletes an interface, and with it its peer.
func (s *Socket) DeleteLink(ctx context.Context, index int) error {
	if index <= 0 {
		return fmt.Errorf("delete interface %d: invalid index", index)
	}
	return s.change(ctx, fmt.Sprintf("delete interface %d", index), unix.RTM_DELLINK, ofLink(index), unix.ENODEV)
}

// DeleteNeighbour deletes the entry of an address on an interface.
func (s *Socket) DeleteNeighbour(ctx context.Context, link int, ip netip.Addr) error {
	body := make([]byte, unix.SizeofNdMsg)
	body[0] = family(ip)
	native.PutUint32(body[4:], uint32(int32(link)))
	what := fmt.Sprintf("delete the neighbour %s on interface %d", ip, link)
	return s.change(ctx, what, unix.RTM_DELNEIGH, put(body, unix.NDA_DST, ip.AsSlice()), unix.ENOENT)
}

// DeleteRoute deletes the route that has all of these attributes.
func (s *Socket) DeleteRoute(ctx context.Context, r model.Route) error {
	body, err := ofRoute(&r)
	if err != nil {
		return err
	}
	return s.change(ctx, "delete the route to "+r.Dst.String(), unix.RTM_DELROUTE, body, unix.ESRCH)
}

// change sends one request and waits for its result; none is the errno that means that
// there was nothing to change.
func (s *Socket) change(ctx context.Context, what string, kind uint16, body []byte, none unix.Errno) error {
	err := s.ask(ctx, kind, unix.NLM_F_ACK, body, func(Message) error { return nil })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, none):
		return fmt.Errorf("%s: %w", what, ErrGone)
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
}

// ofRoute encodes a route to one address through an interface, without a gateway.
func ofRoute(r *model.Route) ([]byte, error) {
	scope, known := map[string]byte{"": unix.RT_SCOPE_UNIVERSE, "site": unix.RT_SCOPE_SITE, "link": unix.RT_SCOPE_LINK, "host": unix.RT_SCOPE_HOST}[r.Scope]
	if !known || r.Type != "" || r.Gateway.IsValid() || !r.Dst.IsSingleIP() || r.Link <= 0 || r.Table <= 0 || r.Protocol <= 0 || r.Protocol > 255 || r.Metric < 0 {
		return nil, fmt.Errorf("the route to %s is not to a single address through one interface", r.Dst)
	}
	body := make([]byte, unix.SizeofRtMsg)
	body[0], body[1] = family(r.Dst.Addr()), byte(r.Dst.Bits())
	body[4] = unix.RT_TABLE_UNSPEC // the attribute has it
	body[5], body[6], body[7] = byte(r.Protocol), scope, unix.RTN_UNICAST
	body = put(body, unix.RTA_DST, r.Dst.Addr().AsSlice())
	body = put(body, unix.RTA_TABLE, native.AppendUint32(nil, uint32(r.Table)))
	body = put(body, unix.RTA_OIF, native.AppendUint32(nil, uint32(int32(r.Link))))
	if r.Metric > 0 {
		body = put(body, unix.RTA_PRIORITY, native.AppendUint32(nil, uint32(r.Metric)))
	}
	return body, nil
}

func family(ip netip.Addr) byte {
	if ip.Is4() {
		return unix.AF_INET
	}
	return unix.AF_INET6
}
