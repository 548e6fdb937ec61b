package rtnl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel answers at once; a longer wait means that it is stuck.
const (
	patience   = 2 * time.Second
	bufferSize = 64 << 10 // the kernel fills up to 32 KiB at a time
)

// A Socket reads the namespace in which it was opened, and keeps that namespace alive: it
// must not be held longer than one read. It is not safe for concurrent use.
type Socket struct {
	fd    int
	seq   uint32
	buf   *[]byte
	spent bool // a dump was abandoned: the socket cannot be used any more
}

var buffers = sync.Pool{New: func() any { b := make([]byte, bufferSize); return &b }}

// Open opens a socket in the namespace of the calling thread.
func Open() (*Socket, error) { return open(unix.NETLINK_ROUTE) }

func open(protocol int) (*Socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket: %w", err)
	}
	wait := unix.NsecToTimeval(patience.Nanoseconds())
	if err := errors.Join(
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait),
		unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}),
	); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("set up a netlink socket: %w", err)
	}
	return &Socket{fd: fd, buf: buffers.Get().(*[]byte)}, nil
}

// Close closes the socket.
func (s *Socket) Close() {
	if s.fd < 0 {
		return
	}
	_ = unix.Close(s.fd)
	buffers.Put(s.buf)
	s.fd, s.spent = -1, true
}

// A Refusal is an error of the kernel, in contrast to a missing answer.
type Refusal struct{ Errno unix.Errno }

func (r *Refusal) Error() string { return r.Errno.Error() }

// Unwrap returns the errno.
func (r *Refusal) Unwrap() error { return r.Errno }

// errIntr means that the table changed while it was read.
var errIntr = errors.New("the dump was interrupted")

// ask sends a request and calls each with the answers until the last one. The answers are
// complete only if it returns no error.
func (s *Socket) ask(ctx context.Context, kind, flags uint16, body []byte, each func(Message) error) error {
	if s.spent {
		return fmt.Errorf("%w: an earlier dump on this socket was abandoned", ErrPartial)
	}
	s.seq++
	req := native.AppendUint32(nil, uint32(messageHeader+len(body)))
	req = native.AppendUint16(req, kind)
	req = native.AppendUint16(req, unix.NLM_F_REQUEST|flags)
	req = native.AppendUint32(req, s.seq)
	req = native.AppendUint32(req, 0)
	req = append(req, body...)
	if _, err := unix.Write(s.fd, req); err != nil { // to the kernel: the socket has no other peer
		return fmt.Errorf("ask the kernel: %w", err)
	}
	s.spent = true // until the last answer was read
	done, interrupted, answered := false, false, error(nil)
	for !done {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, flags, from, err := s.receive()
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("read the kernel's answer: %w", err)
		case flags&unix.MSG_TRUNC != 0:
			return fmt.Errorf("%w: an answer exceeds %d bytes", ErrPartial, bufferSize)
		case from != 0:
			continue // only the kernel's answers count
		}
		err = Messages((*s.buf)[:n], func(m Message) (bool, error) {
			if m.Seq != s.seq {
				return true, nil
			}
			interrupted = interrupted || m.Flags&unix.NLM_F_DUMP_INTR != 0
			switch m.Type {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR:
				done = true
				answered = refused(m.Body)
				return false, nil
			default:
				done = m.Flags&unix.NLM_F_MULTI == 0
				return !done, each(m)
			}
		})
		if err != nil {
			return err
		}
	}
	s.spent = false
	if answered == nil && interrupted {
		return errIntr
	}
	return answered
}

func refused(body []byte) error {
	if code := int32(Number(body)); code != 0 {
		return &Refusal{unix.Errno(-code)}
	}
	return nil
}

// receive returns the length, the flags and the sender of a datagram; the kernel is 0.
func (s *Socket) receive() (n, flags int, from uint32, err error) {
	n, _, flags, sender, err := unix.Recvmsg(s.fd, *s.buf, nil, 0)
	if a, ok := sender.(*unix.SockaddrNetlink); ok {
		from = a.Pid
	}
	return n, flags, from, err
}
