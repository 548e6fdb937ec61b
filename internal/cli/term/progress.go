package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress shows on a terminal what is being read; a pipe sees nothing of it.
func (s *Session) progress() (tell func(string, int, bool), done func()) {
	if _, ok := terminal(s.Stderr); !ok && !s.Verbose {
		return func(string, int, bool) {}, func() {}
	}
	p := &meter{w: s.Stderr, lines: s.Verbose, begun: map[string]time.Time{}}
	return p.report, p.done
}

// A meter shows which tables are being read, or with lines which were read and for how long.
type meter struct {
	mu    sync.Mutex
	w     io.Writer
	lines bool
	begun map[string]time.Time
	drawn bool
}

func (m *meter) report(name string, rows int, done bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !done:
		m.begun[name] = time.Now() //nolint:forbidigo // how long a read took is for the person who waits
		if !m.lines {
			fmt.Fprintf(m.w, "\r\x1b[Kreading %s …", name)
			m.drawn = true
		}
	case m.lines:
		fmt.Fprintf(m.w, "read %-20s %9s rows in %s\n", name, Thousands(rows), time.Since(m.begun[name]).Round(time.Millisecond))
	}
}

func (m *meter) done() {
	if m.drawn {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}
