package kernel

import (
	"errors"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
)

// A datagram is one received datagram.
type datagram struct {
	body []byte
	from uint32 // 0 is the kernel
	away bool   // it is about another namespace
	id   int32  // ID of that namespace in ours
	cut  bool   // it was truncated
	err  error
}

func receive(fd int, buf, oob []byte) datagram {
	n, oobn, flags, from, err := unix.Recvmsg(fd, buf, oob, unix.MSG_DONTWAIT)
	for errors.Is(err, unix.EINTR) {
		n, oobn, flags, from, err = unix.Recvmsg(fd, buf, oob, unix.MSG_DONTWAIT)
	}
	if err != nil {
		return datagram{err: err}
	}
	d := datagram{body: buf[:n], cut: flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0}
	if a, ok := from.(*unix.SockaddrNetlink); ok {
		d.from = a.Pid
	}
	d.id, d.away, err = namespaceOf(oob[:oobn])
	d.cut = d.cut || err != nil
	return d
}

var errControl = errors.New("malformed control message")

// namespaceOf finds the namespace ID in the control data of a message; messages of our own
// namespace have none.
func namespaceOf(oob []byte) (id int32, away bool, err error) {
	for len(oob) > 0 {
		hdr, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return 0, false, errors.Join(errControl, err)
		}
		if hdr.Level == unix.SOL_NETLINK && hdr.Type == unix.NETLINK_LISTEN_ALL_NSID {
			if len(data) < 4 {
				return 0, false, errControl
			}
			return int32(rtnl.Number(data)), true, nil
		}
		oob = rest
	}
	return 0, false, nil
}
