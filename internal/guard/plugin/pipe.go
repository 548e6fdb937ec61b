package plugin

import (
	"io"
	"os"
	"syscall"
	"time"
)

// A pipe collects the output of a program up to a limit. Output beyond it is read and
// dropped, so that the program does not block.
type pipe struct {
	from, to *os.File
	limit    int
	kept     []byte
	over     bool // output was dropped
	done     chan struct{}
}

func newPipe(limit int) (*pipe, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &pipe{from: from, to: to, limit: limit, done: make(chan struct{})}, nil
}

// Write keeps as much as the limit allows.
func (p *pipe) Write(b []byte) (int, error) {
	room := min(p.limit-len(p.kept), len(b))
	p.kept = append(p.kept, b[:room]...)
	p.over = p.over || room < len(b)
	return len(b), nil
}

// begin starts to read. It closes our copy of the write end, which would keep the pipe
// open.
func (p *pipe) begin() {
	_ = p.to.Close()
	go func() {
		defer close(p.done)
		_, _ = io.Copy(struct{ io.Writer }{p}, p.from)
	}()
}

// end stops reading after the program has exited and keeps what it wrote. A process that it
// left behind may keep the pipe open, so end does not wait for EOF.
func (p *pipe) end() {
	if p.from.SetReadDeadline(time.Unix(1, 0)) == nil { // in the past: the pending read returns at once
		<-p.done
		_ = p.from.SetReadDeadline(time.Time{})
		p.rest()
	}
	_ = p.from.Close()
}

// rest reads what is in the pipe now.
func (p *pipe) rest() {
	raw, err := p.from.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buf)
			return true // whether or not there was data
		})
		if err != nil || n <= 0 {
			return
		}
		_, _ = p.Write(buf[:n])
	}
}

// drop closes a pipe that was never read.
func (p *pipe) drop() {
	_ = p.to.Close()
	_ = p.from.Close()
}
