package term

import (
	"fmt"
	"io"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/plain"
)

// progress shows on a terminal what is being read; a pipe sees nothing of it.
func (s *Session) progress() (tell func(string, int, bool), done func()) {
	if _, ok := terminal(s.Stderr); !ok && !s.Verbose {
		return func(string, int, bool) {}, func() {}
	}
	p := &meter{w: s.Stderr, lines: s.Verbose, begun: map[string]time.Time{}}
	return p.report, p.done
}

// A StepMeter shows on a terminal how many steps are done, and how long the others will take at the
// pace of those; a pipe sees nothing of it. The zero StepMeter shows nothing.
type StepMeter struct {
	w     io.Writer // nil: nobody watches
	what  string
	began time.Time
	drawn bool
}

// StepMeter begins to measure steps, by what they are called.
func (s *Session) StepMeter(what string) StepMeter {
	m := StepMeter{what: what, began: time.Now()} //nolint:forbidigo // for the person who waits
	if _, ok := terminal(s.Stderr); ok && !s.Verbose {
		m.w = s.Stderr
	}
	return m
}

// Tell shows that n steps are done.
func (m *StepMeter) Tell(n, of int) {
	if m.w != nil {
		fmt.Fprintf(m.w, "\r\x1b[K%s %s of %s%s", m.what, plain.Thousands(n), plain.Thousands(of), remaining(time.Since(m.began), n, of))
		m.drawn = true
	}
}

// Clear removes what is shown, before something else is printed.
func (m *StepMeter) Clear() {
	if m.drawn {
		fmt.Fprint(m.w, "\r\x1b[K")
		m.drawn = false
	}
}

// remaining says how long the other steps will take, once a few seconds show the pace.
func remaining(elapsed time.Duration, n, of int) string {
	left := time.Duration(float64(elapsed) / float64(max(n, 1)) * float64(of-n))
	if elapsed < 3*time.Second || left < time.Second {
		return ""
	}
	return ", about " + left.Round(time.Second).String() + " left"
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
		fmt.Fprintf(m.w, "read %-20s %9s rows in %s\n", name, plain.Thousands(rows), time.Since(m.begun[name]).Round(time.Millisecond))
	}
}

func (m *meter) done() {
	if m.drawn {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
}
