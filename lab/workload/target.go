package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A target gets requests in two ways: each over a new connection, and over one that
// stays open. No request is retried: one without an answer is lost.
type target struct {
	URL     string `json:"url"`
	Asked   int    `json:"asked"`
	Lost    int    `json:"lost"`
	Stalled int    `json:"stalled"` // lost while the machine itself stood still
	Late    int    `json:"late"`    // answered, but late
	Broken  int    `json:"broken"`  // how often the open connection had to be re-established
	Slowest int    `json:"slowest"` // ms
	First   string `json:"first"`   // the first lost request, and when
	Host    string `json:"host"`    // the host name that answers

	addr   string
	slow   time.Duration // a factor
	mu     sync.Mutex
	losses []loss
}

// A loss is a request without an answer. Whether it counts is known at the end.
type loss struct {
	span
	err   error
	kept  bool // over the open connection
	wrong bool // another host answered: that counts always
}

// note counts one request. An answer of another host does not count.
func (t *target) note(began time.Time, host string, kept bool, err error) {
	now := time.Now()
	took := now.Sub(began)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil && t.Host == "" {
		t.Host = host
	}
	wrong := err == nil && host != t.Host
	if wrong {
		err = fmt.Errorf("%s answered, not %s", host, t.Host)
	}
	t.Asked++
	t.Slowest = max(t.Slowest, int(took.Milliseconds()))
	switch {
	case err != nil:
		t.losses = append(t.losses, loss{span{began, now}, err, kept, wrong})
	case took > t.slow*late:
		t.Late++
	}
}

// settle counts the losses. One while the machine stood still for a quarter of the time
// that an answer may take is not judged.
func (t *target) settle(s *stalls) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.losses {
		if !l.wrong && s.during(l.span) >= t.slow*patience/4 {
			t.Stalled++
			continue
		}
		t.Lost++
		if l.kept {
			t.Broken++
		}
		if t.First == "" {
			t.First = l.from.UTC().Format("15:04:05.000") + " " + l.err.Error()
		}
	}
	t.losses = nil
}

// fresh sends each request over a new connection, at its time, whether or not earlier
// ones were answered.
func (t *target) fresh(ctx context.Context) {
	tick := time.NewTicker(t.slow * every)
	defer tick.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, maxInFlight)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		select {
		case places <- struct{}{}:
		default: // with so many unanswered requests the next one would not be answered either
			t.note(time.Now(), "", false, errors.New("too many unanswered requests"))
			continue
		}
		all.Go(func() {
			defer func() { <-places }()
			began := time.Now()
			host, err := t.once(began.Add(t.slow * patience))
			t.note(began, host, false, err)
		})
	}
}

func (t *target) once(deadline time.Time) (string, error) {
	c, err := t.dial()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	return ask(c, bufio.NewReader(c), deadline)
}

// kept sends requests over one connection, which is re-established only if it broke.
func (t *target) kept(ctx context.Context) {
	tick := time.NewTicker(t.slow * every)
	defer tick.Stop()
	var c net.Conn
	var in *bufio.Reader
	defer func() {
		if c != nil {
			_ = c.Close()
		}
	}()
	for ctx.Err() == nil {
		began := time.Now()
		var host string
		var err error
		if c == nil {
			if c, err = t.dial(); err == nil {
				in = bufio.NewReader(c)
			} else {
				c = nil
			}
		}
		if err == nil {
			host, err = ask(c, in, began.Add(t.slow*patience))
		}
		t.note(began, host, true, err)
		if err != nil && c != nil {
			_ = c.Close()
			c = nil
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

func (t *target) dial() (net.Conn, error) { return net.DialTimeout("tcp", t.addr, t.slow*patience) }

// ask sends one request over a connection and returns the host name that answered.
func ask(c net.Conn, in *bufio.Reader, deadline time.Time) (string, error) {
	if err := c.SetDeadline(deadline); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: lab\r\n\r\n"); err != nil {
		return "", err
	}
	r, err := http.ReadResponse(in, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil {
		return "", err
	}
	host, ok := strings.CutPrefix(strings.Fields(string(text) + " -")[0], "host=")
	if r.StatusCode != http.StatusOK || !ok {
		return "", fmt.Errorf("%s: %.60q", r.Status, text)
	}
	return host, nil
}
