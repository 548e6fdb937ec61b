package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// rootOnly accepts only connections whose peer is root according to the kernel; the mode of
// the socket alone can be changed by whoever owns its directory.
type rootOnly struct{ net.Listener }

func (l rootOnly) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if u, ok := c.(*net.UnixConn); ok && isRoot(u) {
			return c, nil
		}
		_ = c.Close()
	}
}

func isRoot(c *net.UnixConn) bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	root := false
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		root = err == nil && cred.Uid == 0
	})
	return err == nil && root
}
