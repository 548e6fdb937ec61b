package kernel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

var groups = []int{
	unix.RTNLGRP_LINK, unix.RTNLGRP_NEIGH, unix.RTNLGRP_NSID,
	unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV4_ROUTE, unix.RTNLGRP_IPV4_RULE, unix.RTNLGRP_IPV4_NETCONF,
	unix.RTNLGRP_IPV6_IFADDR, unix.RTNLGRP_IPV6_ROUTE, unix.RTNLGRP_IPV6_RULE, unix.RTNLGRP_IPV6_NETCONF,
}

// A Listener is told what Watch hears, by one goroutine. Its functions must be quick.
type Listener struct {
	// Changed gets the tables that a change affects and the inode of its namespace: 0 for the host's
	// own, Any if unknown.
	Changed func(inode uint64, tables ...model.Table)
	// Heard gets what is known of a change of the host's own, before Changed.
	Heard func(Written)
	// Listens gets a function that reports whether all that was said so far has been heard. Others may
	// call it.
	Listens func(caughtUp func() bool)
}

// Watch listens to the kernel until the context ends. It begins with one call of Changed for everything once
// it listens, so that a reader misses nothing, and makes one such call whenever the kernel dropped
// messages. It receives changes of namespaces that have an ID in the host's, as every namespace with a
// veth to the host has, without holding them. It needs CAP_NET_BROADCAST.
func Watch(ctx context.Context, o Options, to Listener) error {
	o = o.withDefaults()
	if err := o.atHome(); err != nil {
		return err
	}
	f, err := listen(o.Buffer)
	if err != nil {
		return fmt.Errorf("listen to the kernel: %w", err)
	}
	defer f.Close()
	stop := context.AfterFunc(ctx, func() { _ = f.Close() })
	defer stop()
	conn, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("listen to the kernel: %w", err)
	}
	w := &watcher{names: numbers{o: o}, Listener: to}
	to.Listens(func() bool { return !w.busy.Load() && silent(conn) && !w.busy.Load() })
	to.Heard(Written{Missed: true}) // what happened before is not known
	to.Changed(Any, everything...)
	buf, oob := make([]byte, 64<<10), make([]byte, 256)
	for {
		var d datagram
		err := conn.Read(func(fd uintptr) bool {
			w.busy.Store(true)
			d = receive(int(fd), buf, oob)
			w.busy.Store(!errors.Is(d.err, unix.EAGAIN))
			return w.busy.Load()
		})
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = w.hear(ctx, d)
		}
		if err != nil {
			return fmt.Errorf("listen to the kernel: %w", err)
		}
	}
}

// listen opens the socket. It must not be one of the runtime's until all is set.
func listen(buffer int) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, buffer); err != nil {
		// Without the capability we get only our own namespace's messages.
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, buffer)
	}
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_LISTEN_ALL_NSID, 1),
		unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}),
	)
	for _, g := range groups {
		err = errors.Join(err, unix.SetsockoptInt(fd, unix.SOL_NETLINK, unix.NETLINK_ADD_MEMBERSHIP, g))
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "netlink"), nil
}

// A watcher turns messages into calls.
type watcher struct {
	Listener
	names numbers
	busy  atomic.Bool // from receiving a message until none is left
}

// silent reports whether no message waits.
func silent(conn syscall.RawConn) (yes bool) {
	err := conn.Control(func(fd uintptr) {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		yes = n == 0 && err == nil
	})
	return yes && err == nil
}

// hear handles one datagram. A malformed one may affect everything.
func (w *watcher) hear(ctx context.Context, d datagram) error {
	switch {
	case errors.Is(d.err, unix.ENOBUFS), d.cut:
		w.names = numbers{o: w.names.o}
		w.Heard(Written{Missed: true})
		w.Changed(Any, everything...)
		return nil
	case d.err != nil:
		return d.err
	case d.from != 0:
		return nil // only messages of the kernel count
	}
	err := rtnl.Messages(d.body, func(m rtnl.Message) (bool, error) {
		inode := uint64(0)
		if d.away {
			inode = w.names.of(ctx, d.id)
		} else if id, ok := renumbered(m); ok {
			w.names.forget(id)
			inode = Any // a namespace appeared or disappeared
		}
		if !d.away {
			if written(m, w.Heard) != nil {
				w.Heard(Written{Missed: true})
			}
		}
		if tables := concerns(m.Type, !d.away || inode == 0); len(tables) > 0 {
			w.Changed(inode, tables...)
		}
		return true, nil
	})
	if err != nil {
		w.Heard(Written{Missed: true})
		w.Changed(Any, everything...)
	}
	return nil
}
