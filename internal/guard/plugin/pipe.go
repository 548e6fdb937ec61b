package plugin

import (
	"io"
	"os"
	"syscall"
	"time"
)

// A pipe takes in what a program writes, up to a bound; what is beyond is read and lost,
// so that the program goes on.
type pipe struct {
	from, to *os.File
	limit    int
	kept     []byte
	over     bool // something was lost
	done     chan struct{}
}

func newPipe(limit int) (*pipe, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &pipe{from: from, to: to, limit: limit, done: make(chan struct{})}, nil
}

// Write keeps what there is room for.
func (p *pipe) Write(b []byte) (int, error) {
	room := min(p.limit-len(p.kept), len(b))
	p.kept = append(p.kept, b[:room]...)
	p.over = p.over || room < len(b)
	return len(b), nil
}

// begin starts to read. Our own copy of the writing end must not keep it open.
func (p *pipe) begin() {
	_ = p.to.Close()
	go func() {
		defer close(p.done)
		_, _ = io.Copy(struct{ io.Writer }{p}, p.from)
	}()
}

// end gives what was written until the program ended. Whoever it left behind may keep
// the pipe open for ever: nobody waits for that.
func (p *pipe) end() {
	if p.from.SetReadDeadline(time.Unix(1, 0)) == nil { // long ago
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
			return true // whether or not there was anything
		})
		if err != nil || n <= 0 {
			return
		}
		_, _ = p.Write(buf[:n])
	}
}

// drop gives up a pipe that was never read.
func (p *pipe) drop() {
	_ = p.to.Close()
	_ = p.from.Close()
}
