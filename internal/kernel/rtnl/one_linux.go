package rtnl

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// ErrGone means that the object does not exist any more.
var ErrGone = errors.New("it does not exist any more")

// Link returns one interface by its index.
func (s *Socket) Link(ctx context.Context, index int) (Device, error) {
	var d Device
	found := false
	body := put(ofLink(index), unix.IFLA_EXT_MASK, native.AppendUint32(nil, skipStats))
	err := s.ask(ctx, unix.RTM_GETLINK, 0, body, func(m Message) (err error) {
		if m.Type == unix.RTM_NEWLINK {
			d, err = parseLink(m.Body)
			found = err == nil
		}
		return err
	})
	switch {
	case errors.Is(err, unix.ENODEV):
		return d, fmt.Errorf("interface %d: %w", index, ErrGone)
	case err != nil:
		return d, fmt.Errorf("read interface %d: %w", index, err)
	case !found || d.Index != index:
		return d, fmt.Errorf("read interface %d: the kernel answered for another", index)
	}
	return d, nil
}

// ofLink is the fixed part of a message about one interface.
func ofLink(index int) []byte {
	b := make([]byte, unix.SizeofIfInfomsg)
	native.PutUint32(b[4:], uint32(int32(index)))
	return b
}
