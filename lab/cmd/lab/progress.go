package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// progress shows the current step and its duration on a terminal; in a pipe it prints
// nothing.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	now   string
	since time.Time
	stop  chan struct{}
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, stop: make(chan struct{})}
	if !isTerminal(w) {
		p.w = nil
		return p
	}
	go p.tick()
	return p
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

func (p *progress) step(name string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil {
		return
	}
	if took == 0 {
		p.now, p.since = name, time.Now()
		return
	}
	_, _ = fmt.Fprintf(p.w, "\r\x1b[K%-40s %5.1f s\n", name, took.Seconds())
	p.now = ""
}

func (p *progress) tick() {
	for {
		select {
		case <-p.stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		p.mu.Lock()
		if p.now != "" {
			_, _ = fmt.Fprintf(p.w, "\r\x1b[K%-40s %5.1f s …", p.now, time.Since(p.since).Seconds())
		}
		p.mu.Unlock()
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.stop)
	if p.w != nil && p.now != "" {
		_, _ = fmt.Fprintln(p.w)
	}
}
