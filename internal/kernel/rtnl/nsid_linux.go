package rtnl

import (
	"context"
	"fmt"

	"golang.org/x/sys/unix"
)

// The attributes of an answer about namespaces.
const (
	NamespaceID = 1 // NETNSA_NSID
	namespaceFD = 3 // NETNSA_FD
	// GenSize is the size of the fixed part before them.
	GenSize = 4
)

// NSID returns the ID that another namespace, held open as fd, has in this one: -1 if it
// has none. It does not assign one.
func (s *Socket) NSID(ctx context.Context, fd int) (int32, error) {
	id := int32(-1)
	body := put(make([]byte, GenSize), namespaceFD, native.AppendUint32(nil, uint32(fd)))
	err := s.ask(ctx, unix.RTM_GETNSID, 0, body, func(m Message) error {
		return Attrs(m.Body, GenSize, func(kind uint16, v []byte) {
			if kind == NamespaceID {
				id = int32(Number(v))
			}
		})
	})
	if err != nil {
		return -1, fmt.Errorf("read the ID of a namespace: %w", err)
	}
	return id, nil
}
