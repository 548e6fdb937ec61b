package records

import (
	"io"
	"sync"
)

// Stream gives an input that is read as data arrives, such as a pipe. Close ends a read that
// waits for data.
func Stream(name string, r io.Reader) Input {
	return Input{Stream: true, Name: name, Open: func() (io.ReadCloser, error) {
		s := &stream{more: make(chan []byte), used: make(chan struct{}), closed: make(chan struct{})}
		go s.pump(r)
		return s, nil
	}}
}

// A stream reads in its own goroutine. If the underlying read never returns, that goroutine is
// abandoned: Close does not wait for it.
type stream struct {
	more   chan []byte   // data read; closed at the end
	used   chan struct{} // the data was consumed
	closed chan struct{}
	once   sync.Once
	rest   []byte
	err    error // set before more is closed
}

func (s *stream) pump(r io.Reader) {
	buf := make([]byte, 256<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			select {
			case s.more <- buf[:n]:
			case <-s.closed:
				return
			}
			select {
			case <-s.used:
			case <-s.closed:
				return
			}
		}
		if err != nil {
			s.err = err
			close(s.more)
			return
		}
	}
}

func (s *stream) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case more, ok := <-s.more:
			if !ok {
				return 0, s.err
			}
			s.rest = more
		case <-s.closed:
			return 0, io.ErrClosedPipe
		}
	}
	n := copy(b, s.rest)
	if s.rest = s.rest[n:]; len(s.rest) == 0 {
		select {
		case s.used <- struct{}{}:
		case <-s.closed:
		}
	}
	return n, nil
}

func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
