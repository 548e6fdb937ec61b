//go:build linux

package rtnl

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A reply is one message of a kernel that a test plays.
type reply struct {
	kind, flags uint16
	body        []byte
	stranger    bool // an answer to somebody else's question
}

func (r reply) bytes(seq uint32) []byte {
	if r.stranger {
		seq += 1000
	}
	b := native.AppendUint32(nil, uint32(messageHeader+len(r.body)))
	b = native.AppendUint16(b, r.kind)
	b = native.AppendUint16(b, r.flags)
	b = native.AppendUint32(b, seq)
	return append(native.AppendUint32(b, 0), r.body...)
}

func code(e unix.Errno) []byte { return native.AppendUint32(nil, uint32(-int32(e))) }

// play gives a socket whose other end answers the n-th request with what answer says,
// each message a datagram of its own, and a count of the requests.
func play(t *testing.T, answer func(n int) []reply) (*Socket, func() int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan int, 1)
	asked <- 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 4096)
		for {
			n, err := unix.Read(fds[1], b)
			if err != nil || n < messageHeader {
				return
			}
			k := <-asked
			for _, r := range answer(k) {
				_, _ = unix.Write(fds[1], r.bytes(native.Uint32(b[8:])))
			}
			asked <- k + 1
		}
	}()
	s := &Socket{fd: fds[0], buf: buffers.Get().(*[]byte)}
	t.Cleanup(func() {
		s.Close()
		<-done
		_ = unix.Close(fds[1])
	})
	return s, func() int {
		n := <-asked
		asked <- n
		return n
	}
}

func row(n byte, flags uint16) reply {
	return reply{kind: unix.RTM_NEWLINK, flags: unix.NLM_F_MULTI | flags, body: []byte{n}}
}

var end = reply{kind: unix.NLMSG_DONE, flags: unix.NLM_F_MULTI, body: code(0)}

func read(t *testing.T, s *Socket, limit int) ([]byte, error) {
	t.Helper()
	return dump(t.Context(), s, unix.RTM_GETLINK, nil, limit, func(m Message, rows []byte) ([]byte, error) {
		return append(rows, m.Body...), nil
	})
}

func TestInterruptedDumpIsReadAgain(t *testing.T) {
	t.Parallel()
	s, asked := play(t, func(n int) []reply {
		switch n {
		case 0: // the mark is on a row
			return []reply{row(1, unix.NLM_F_DUMP_INTR), row(2, 0), end}
		case 1: // or on the end alone
			return []reply{row(1, 0), {kind: unix.NLMSG_DONE, flags: unix.NLM_F_MULTI | unix.NLM_F_DUMP_INTR, body: code(0)}}
		default:
			return []reply{row(7, 0), {kind: unix.RTM_NEWLINK, stranger: true, body: []byte{99}}, row(8, 0), end}
		}
	})
	rows, err := read(t, s, 10)
	if err != nil || string(rows) != "\x07\x08" || asked() != 3 {
		t.Errorf("%v, %v after %d readings", rows, err, asked())
	}
}

func TestDumpThatIsNeverQuietIsPartial(t *testing.T) {
	t.Parallel()
	s, asked := play(t, func(int) []reply { return []reply{row(1, unix.NLM_F_DUMP_INTR), row(2, 0), end} })
	rows, err := read(t, s, 10)
	if !errors.Is(err, ErrPartial) || string(rows) != "\x01\x02" || asked() != tries+1 {
		t.Errorf("%v, %v after %d readings", rows, err, asked())
	}
}

func TestDumpIsCutAtTheLimit(t *testing.T) {
	t.Parallel()
	s, asked := play(t, func(int) []reply { return []reply{row(1, 0), row(2, 0), row(3, 0), row(4, 0), end} })
	rows, err := read(t, s, 2)
	if !errors.Is(err, ErrPartial) || string(rows) != "\x01\x02" {
		t.Errorf("%v, %v", rows, err)
	}
	// What is left over must not become the answer to the next question.
	if rows, err := read(t, s, 2); !errors.Is(err, ErrPartial) || len(rows) != 0 || asked() > 1 {
		t.Errorf("asked again: %v, %v", rows, err)
	}
}

func TestRefusalEndsTheAnswer(t *testing.T) {
	t.Parallel()
	s, _ := play(t, func(n int) []reply {
		if n == 0 {
			return []reply{{kind: unix.NLMSG_ERROR, body: code(unix.EPERM)}}
		}
		return []reply{row(1, 0), {kind: unix.NLMSG_DONE, flags: unix.NLM_F_MULTI, body: code(unix.ENOMEM)}}
	})
	if rows, err := read(t, s, 2); !errors.Is(err, unix.EPERM) || len(rows) != 0 {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := read(t, s, 2); !errors.Is(err, unix.ENOMEM) {
		t.Errorf("a dump that broke off: %v", err)
	}
}

func TestMalformedAnswerIsAnError(t *testing.T) {
	t.Parallel()
	s, _ := play(t, func(int) []reply {
		return []reply{{kind: unix.RTM_NEWLINK, flags: unix.NLM_F_MULTI, body: []byte{1}}, end}
	})
	if d, err := s.Links(t.Context(), 10); !errors.Is(err, errShort) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestSocketObeysTheContext(t *testing.T) {
	t.Parallel()
	s, _ := play(t, func(int) []reply { return []reply{row(1, 0)} })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := dump(ctx, s, unix.RTM_GETLINK, nil, 1, func(_ Message, rows []byte) ([]byte, error) { return rows, nil })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
