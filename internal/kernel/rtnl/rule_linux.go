package rtnl

import (
	"context"
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// The attributes of a rule.
const (
	fraDst      = 1
	fraSrc      = 2
	fraIn       = 3
	fraPriority = 6
	fraMark     = 10
	fraSuppress = 14 // of routes with a prefix length up to this; -1: none
	fraTable    = 15
	fraMask     = 16
	fraProtocol = 21
	frPad       = 18
	frInvert    = 2 // flag
)

// Rules returns the rules of both families.
func (s *Socket) Rules(ctx context.Context, limit int) ([]model.Rule, error) {
	var out []model.Rule
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		body := make([]byte, unix.SizeofRtMsg)
		body[0] = family
		rows, err := dump(ctx, s, unix.RTM_GETRULE, body, limit, func(m Message, rows []model.Rule) ([]model.Rule, error) {
			if m.Type != unix.RTM_NEWRULE || len(m.Body) == 0 || m.Body[0] != family {
				return rows, nil
			}
			r, err := parseRule(m.Body)
			return append(rows, r), err
		})
		out = append(out, rows...)
		if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT) {
			continue // this kernel does not have the family
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

func parseRule(b []byte) (model.Rule, error) {
	var r model.Rule
	err := Attrs(b, unix.SizeofRtMsg, func(kind uint16, v []byte) {
		switch kind {
		case fraDst:
			r.Dst = netip.PrefixFrom(addr(v), int(b[1]))
		case fraSrc:
			r.Src = netip.PrefixFrom(addr(v), int(b[2]))
		case fraIn:
			r.In = text(v)
		case fraPriority:
			r.Priority = int(Number(v))
		case fraMark:
			r.Mark = Number(v)
		case fraTable:
			r.Table = int(Number(v))
		case fraMask, fraProtocol, frPad:
		case fraSuppress:
			r.Other = r.Other || int32(Number(v)) != -1
		default:
			r.Other = true
		}
	})
	if err != nil {
		return r, err
	}
	if r.Table == 0 {
		r.Table = int(b[4])
	}
	r.IPv6 = b[0] == unix.AF_INET6
	r.Other = r.Other || b[3] != 0 || native.Uint32(b[8:])&frInvert != 0 // b[3] is the TOS
	switch b[7] {
	case unix.FR_ACT_TO_TBL:
	case unix.FR_ACT_BLACKHOLE:
		r.Type = "blackhole"
	case unix.FR_ACT_UNREACHABLE:
		r.Type = "unreachable"
	case unix.FR_ACT_PROHIBIT:
		r.Type = "prohibit"
	default:
		r.Other = true
	}
	return r, nil
}
