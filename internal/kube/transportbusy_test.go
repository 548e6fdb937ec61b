package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const date = "Sun, 06 Nov 1994 08:49:37 GMT"
	for after, want := range map[string]time.Duration{
		"": time.Second, "0": 0, "3": 3 * time.Second, "31": maxPause, "99999999999999999999": time.Second, "9223372036": maxPause, "-1": time.Second, "soon": time.Second,
		"Sun, 06 Nov 1994 08:49:41 GMT": 4 * time.Second, "Sun, 06 Nov 1994 08:49:00 GMT": 0, "Sun, 06 Nov 1994 09:49:00 GMT": maxPause,
	} {
		if got := retryAfter(after, date); got != want {
			t.Errorf("%q: %s, want %s", after, got, want)
		}
	}
	if got := retryAfter(date, ""); got != time.Second {
		t.Errorf("no date: %s", got)
	}
}

// An initializing is a server that is busy for a time, in the manner of one whose watch
// cache fills, and then answers.
type initializing struct {
	code  int
	until time.Time

	mu                sync.Mutex
	asked, now, peak  int
	askedWhileResting int
	rest              time.Time
}

func (s *initializing) RoundTrip(*http.Request) (*http.Response, error) {
	s.mu.Lock()
	s.asked++
	s.now++
	s.peak = max(s.peak, s.now)
	at := monotonic()
	if at.Before(s.rest) {
		s.askedWhileResting++
	}
	wait := at.Before(s.until)
	if wait {
		s.rest = at.Add(2 * time.Second)
	}
	s.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	if wait {
		return &http.Response{
			StatusCode: s.code, Status: "429 Too Many Requests", Header: http.Header{"Retry-After": {"2"}},
			Body: io.NopCloser(strings.NewReader(`{"kind":"Status","message":"storage is (re)initializing"}`)),
		}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Date": {"Sun, 06 Nov 1994 08:49:37 GMT"}}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// A server that is busy for a minute is asked again when it wants it, by one of many at a
// time; nobody else is sent meanwhile, and in the end all are answered.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			s := &initializing{code: code, until: monotonic().Add(time.Minute)}
			c := clientOf(t, "http://x")
			c.http = &http.Client{Transport: s}
			c.Timeout = 2 * time.Minute
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					time.Sleep(time.Duration(i/8) * time.Second) // eight at once, and more while it is busy
					if _, _, err := c.Get(t.Context(), "/api/v1/pods"); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if s.askedWhileResting > 7 || s.asked > 50+8+30 || s.peak > 8 {
				t.Errorf("asked %d times, %d while it wanted rest, %d at once", s.asked, s.askedWhileResting, s.peak)
			}
			if !c.line.empty() {
				t.Error("somebody still stands in line")
			}
		})
	}
}

// Whoever has no more time says why he was refused, at once.
func TestBusyTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &initializing{code: http.StatusTooManyRequests, until: monotonic().Add(time.Hour)}
		c := clientOf(t, "http://x")
		c.http, c.Timeout = &http.Client{Transport: s}, 7*time.Second
		began := monotonic()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, _, err := c.Get(t.Context(), "/api/v1/pods")
				if err == nil || !strings.Contains(err.Error(), "read /api/v1/pods: the API server is busy: 429 Too Many Requests: storage is (re)initializing") {
					t.Errorf("%v", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 7*time.Second || s.asked > 8 {
			t.Errorf("%s, asked %d times", took, s.asked)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := c.Get(ctx, "/api/v1/pods"); err == nil {
			t.Error("an answer for one who has gone")
		}
		if !c.line.empty() {
			t.Error("somebody still stands in line")
		}
	})
}

// An agent that says that it is busy is not asked again behind its caller's back, and holds
// up nobody else.
func TestBusyAgent(t *testing.T) {
	t.Parallel()
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/proxy/") {
			asked++
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer srv.Close()
	c := clientOf(t, srv.URL)
	_, _, err := c.Proxy(t.Context(), AgentPod{Node: "w1", Namespace: "ns", Name: "p"}, "v1/tables", nil, http.Header{AgentHeader: {"tok"}})
	var busy interface{ RetryAfter() time.Duration }
	if !errors.As(err, &busy) || busy.RetryAfter() != 7*time.Second || asked != 1 || errors.Is(err, observe.ErrNotThere) {
		t.Errorf("%v, asked %d times", err, asked)
	}
	if _, _, err := c.Get(t.Context(), "/version"); err != nil || !c.line.empty() {
		t.Errorf("%v", err)
	}
}
