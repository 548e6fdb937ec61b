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
	fraTable    = 15
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
		default:
		}
	})
	if err != nil {
		return r, err
	}
	if r.Table == 0 {
		r.Table = int(b[4])
	}
	r.IPv6 = b[0] == unix.AF_INET6
	return r, nil
}
