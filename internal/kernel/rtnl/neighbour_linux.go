package rtnl

import (
	"context"
	"strconv"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// flagsAt is the offset of the flags in a neighbour message.
const flagsAt = 10

// Neighbours returns the neighbour tables of both families, with proxy entries. Entries for
// multicast and for interfaces without neighbour discovery are left out.
func (s *Socket) Neighbours(ctx context.Context, limit int) ([]model.Neighbour, error) {
	rows, err := s.neighbours(ctx, 0, limit)
	if err != nil {
		return rows, err
	}
	proxies, err := s.neighbours(ctx, unix.NTF_PROXY, limit)
	return append(rows, proxies...), err
}

func (s *Socket) neighbours(ctx context.Context, flags byte, limit int) ([]model.Neighbour, error) {
	body := make([]byte, unix.SizeofNdMsg)
	body[flagsAt] = flags
	return dump(ctx, s, unix.RTM_GETNEIGH, body, limit, func(m Message, rows []model.Neighbour) ([]model.Neighbour, error) {
		if m.Type != unix.RTM_NEWNEIGH {
			return rows, nil
		}
		n, noise, err := parseNeighbour(m.Body)
		if err != nil || noise {
			return rows, err
		}
		return append(rows, n), nil
	})
}

func parseNeighbour(b []byte) (n model.Neighbour, noise bool, err error) {
	var updated int64
	err = Attrs(b, unix.SizeofNdMsg, func(kind uint16, v []byte) {
		switch kind {
		case unix.NDA_DST:
			n.IP = addr(v)
		case unix.NDA_LLADDR:
			n.MAC = mac(v)
		case unix.NDA_CACHEINFO:
			updated = updatedOf(v)
		default:
		}
	})
	if err != nil {
		return n, false, err
	}
	state := native.Uint16(b[8:])
	n.Link, n.State, n.Proxy = int(int32(Number(b[4:]))), stateName(state), b[flagsAt]&unix.NTF_PROXY != 0
	if state&(unix.NUD_FAILED|unix.NUD_INCOMPLETE) != 0 {
		n.Asked = updated
	}
	family := b[0] == unix.AF_INET || b[0] == unix.AF_INET6
	return n, !family || !n.IP.IsValid() || n.IP.IsMulticast() || state&unix.NUD_NOARP != 0, nil
}

// updatedOf is how many seconds ago an entry changed its state, at least one: struct
// nda_cacheinfo has the times since it was confirmed, used and updated, in hundredths.
func updatedOf(v []byte) int64 {
	const at, ticks = 8, 100
	if len(v) < at+4 {
		return 0
	}
	return max(1, int64(native.Uint32(v[at:])/ticks))
}

func stateName(state uint16) string {
	switch state {
	case unix.NUD_NONE:
		return "NONE"
	case unix.NUD_INCOMPLETE:
		return "INCOMPLETE"
	case unix.NUD_REACHABLE:
		return "REACHABLE"
	case unix.NUD_STALE:
		return "STALE"
	case unix.NUD_DELAY:
		return "DELAY"
	case unix.NUD_PROBE:
		return "PROBE"
	case unix.NUD_FAILED:
		return "FAILED"
	case unix.NUD_PERMANENT:
		return "PERMANENT"
	default:
		return strconv.Itoa(int(state))
	}
}
