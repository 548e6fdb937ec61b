package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plumbline.dev/plumbline/internal/agent"
)

// A way is what leads to many agents: so many are served at once, and each takes so long.
// Whoever comes meanwhile waits.
type way struct {
	room  int
	seats chan struct{}
	takes time.Duration
	stall [2]time.Duration // from when until when it serves nobody
	every time.Duration    // and again, if set

	silent, slow map[string]bool         // nodes that never answer, and those that take 10 s
	refuses      func(node string) error // at once, and costs nothing
	began        time.Time

	mu        sync.Mutex
	now, peak int
	asked     map[string]int
}

// busyError is what a server says that wants to be left alone.
type busyError time.Duration

func (busyError) Error() string               { return "429 Too Many Requests" }
func (b busyError) RetryAfter() time.Duration { return time.Duration(b) }

func (w *way) open(ctx context.Context, node, path string, _ url.Values) (io.ReadCloser, error) {
	w.mu.Lock()
	w.now++
	w.peak = max(w.peak, w.now)
	if path != agent.PathHealth {
		w.asked[node]++
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.now--
		w.mu.Unlock()
	}()
	if w.refuses != nil {
		w.mu.Lock()
		err := w.refuses(node)
		w.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	switch {
	case w.silent[node]:
		<-ctx.Done()
		return nil, ctx.Err()
	case w.slow[node]: // by itself: it takes no seat meanwhile
		return w.answer(ctx, node, 10*time.Second)
	}
	select {
	case w.seats <- struct{}{}:
		defer func() { <-w.seats }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	at := time.Since(w.began)
	if w.every > 0 {
		at %= w.every
	}
	if at >= w.stall[0] && at < w.stall[1] {
		return w.answer(ctx, node, w.stall[1]-at)
	}
	return w.answer(ctx, node, w.takes)
}

func (*way) answer(ctx context.Context, node string, takes time.Duration) (io.ReadCloser, error) {
	select {
	case <-time.After(takes):
		return io.NopCloser(strings.NewReader(fmt.Sprintf(`{"node":%q}`, node))), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// swarm asks nodes over a way, in time that only passes when all wait.
func swarm(t *testing.T, nodes int, w *way, judge func(silent map[string]string, took time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &agent.Fleet{Open: w.open, Now: time.Now} //nolint:forbidigo // of the bubble
		for i := range nodes {
			f.Nodes = append(f.Nodes, fmt.Sprintf("node-%05d", i))
		}
		w.asked, w.began = map[string]int{}, time.Now() //nolint:forbidigo // it is not the real one
		w.seats = make(chan struct{}, max(w.room, 64*(1-min(w.room, 1))))
		all, silent := f.Digests(t.Context())
		took := time.Since(w.began)
		synctest.Wait() // for whoever was told that nobody waits for him any more
		if len(all)+len(silent) != nodes || w.now != 0 {
			t.Errorf("%d answers, %d silent, %d still asked", len(all), len(silent), w.now)
		}
		t.Logf("%d agents in %s, %d silent, at most %d at once", nodes, took.Round(time.Millisecond), len(silent), w.peak)
		judge(silent, took)
	})
}

// every gives one of so many nodes, from one on.
func every(nodes, n, from int) map[string]bool {
	out := map[string]bool{}
	for i := from; i < nodes; i += n {
		out[fmt.Sprintf("node-%05d", i)] = true
	}
	return out
}

// One of a hundred never answers and one takes 10 s: the first are silent, all others are
// heard, and nobody waits for them longer than it takes to know.
func TestSomeSilentSomeSlow(t *testing.T) {
	t.Parallel()
	for nodes, most := range map[int]time.Duration{400: 19 * time.Second, 5000: 20 * time.Second} {
		w := &way{takes: 10 * time.Millisecond, silent: every(nodes, 100, 7), slow: every(nodes, 100, 57)}
		swarm(t, nodes, w, func(silent map[string]string, took time.Duration) {
			if len(silent) != nodes/100 || took > most {
				t.Errorf("%d silent, %s", len(silent), took)
			}
			for n, why := range silent {
				// A second more if what showed that its turn had come was only sent a second after it.
				if !w.silent[n] || why != "no answer in 12s" && why != "no answer in 13s" || w.asked[n] != 2 {
					t.Errorf("%s: %s, asked %d times", n, why, w.asked[n])
				}
			}
			for n, times := range w.asked {
				if times > 1 && !w.silent[n] && !w.slow[n] {
					t.Errorf("%s was asked %d times", n, times)
				}
			}
		})
	}
}

// On a slow way nobody who lives is called silent, and few are asked at once.
func TestSlowWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seats, nodes, most int // most: at once
		takes              time.Duration
		stall              [2]time.Duration
		every              time.Duration
	}{
		"40 a second":     {4, 5000, 192, 100 * time.Millisecond, [2]time.Duration{}, 0},
		"8 a second":      {8, 400, 128, time.Second, [2]time.Duration{}, 0},
		"2 a second":      {4, 400, 128, 2 * time.Second, [2]time.Duration{}, 0},
		"1 in 2 seconds":  {1, 100, 100, 2 * time.Second, [2]time.Duration{}, 0},
		"30 in 45 s":      {1, 30, 33, 1500 * time.Millisecond, [2]time.Duration{}, 0},
		"1 in 3 seconds":  {1, 100, 100, 3 * time.Second, [2]time.Duration{}, 0},
		"6 s for each":    {1000, 400, 64, 6 * time.Second, [2]time.Duration{}, 0},
		"stalls for 18 s": {64, 5000, 224, 20 * time.Millisecond, [2]time.Duration{100 * time.Millisecond, 18 * time.Second}, 0},
		"stalls for 11 s": {64, 400, 224, 20 * time.Millisecond, [2]time.Duration{30 * time.Millisecond, 11 * time.Second}, 0},
		"7 of 11 s":       {4, 400, 224, 100 * time.Millisecond, [2]time.Duration{time.Second, 8 * time.Second}, 11 * time.Second},
		"begins in 15 s":  {64, 5000, 224, 20 * time.Millisecond, [2]time.Duration{0, 15 * time.Second}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &way{room: c.seats, takes: c.takes, stall: c.stall, every: c.every}
			swarm(t, c.nodes, w, func(silent map[string]string, _ time.Duration) {
				if len(silent) > 0 {
					t.Errorf("%d who live are silent: %v", len(silent), silent)
				}
				if w.peak > c.most {
					t.Errorf("%d at once", w.peak)
				}
			})
		})
	}
}

// A busy server is left alone for as long as it says, and asked gently after.
func TestBusyWay(t *testing.T) {
	t.Parallel()
	refused := map[string]time.Time{}
	w := &way{takes: 10 * time.Millisecond}
	w.refuses = func(node string) error {
		if time.Since(w.began) < 8*time.Second {
			if at, again := refused[node]; again {
				return fmt.Errorf("%s was asked again after %s", node, time.Since(at))
			}
			refused[node] = time.Now() //nolint:forbidigo // it is not the real one
			return fmt.Errorf("ask: %w", busyError(10*time.Second))
		}
		return nil
	}
	swarm(t, 1000, w, func(silent map[string]string, _ time.Duration) {
		for n, why := range silent {
			t.Errorf("%s: %s", n, why)
		}
		if len(refused) > 64 {
			t.Errorf("%d were asked of a busy server", len(refused))
		}
	})
}

// One node that says that it is busy holds up nobody else, and is asked a few times, no
// more; one that says so until the API server answers it again is heard.
func TestBusyNode(t *testing.T) {
	t.Parallel()
	w := &way{takes: 10 * time.Millisecond}
	w.refuses = func(node string) error {
		if node == "node-00003" || node == "node-00005" && w.asked[node] < 4 {
			return busyError(3 * time.Second)
		}
		return nil
	}
	swarm(t, 400, w, func(silent map[string]string, took time.Duration) {
		if len(silent) != 1 || silent["node-00003"] != "429 Too Many Requests" || w.asked["node-00003"] != 5 || took > 13*time.Second {
			t.Errorf("%v after %s, asked %d times", silent, took, w.asked["node-00003"])
		}
		for n, times := range w.asked {
			if times > 1 && n != "node-00003" && n != "node-00005" {
				t.Errorf("%s was asked %d times", n, times)
			}
		}
	})
}

// Where all refuse, nobody is asked twice; where none answers at all, not all are asked.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := &way{refuses: func(string) error { return errors.New("no right") }}
	swarm(t, 2000, w, func(silent map[string]string, took time.Duration) {
		if len(silent) != 2000 || took > time.Second {
			t.Errorf("%d, %s", len(silent), took)
		}
		for n, times := range w.asked {
			if times != 1 || silent[n] != "no right" {
				t.Errorf("%s: %d times, %s", n, times, silent[n])
			}
		}
	})
	for _, nodes := range []int{1, 7, 400, 5000} {
		w := &way{silent: every(nodes, 1, 0)}
		swarm(t, nodes, w, func(silent map[string]string, took time.Duration) {
			if len(silent) != nodes || took > 33*time.Second || nodes < 8 && took != 5*time.Second {
				t.Errorf("%d of %d silent, %s", len(silent), nodes, took)
			}
		})
	}
}

// A zone that is out does not keep the rest from being heard soon.
func TestHalfIsOut(t *testing.T) {
	t.Parallel()
	const nodes = 5000
	w := &way{takes: 10 * time.Millisecond, silent: map[string]bool{}}
	for i := range nodes / 2 { // all those whose names come first
		w.silent[fmt.Sprintf("node-%05d", i)] = true
	}
	swarm(t, nodes, w, func(silent map[string]string, took time.Duration) {
		if len(silent) != nodes/2 || took > 60*time.Second {
			t.Errorf("%d silent, %s", len(silent), took)
		}
	})
}

// Whoever no longer wants to know waits for nobody.
func TestAsksNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &way{silent: every(1000, 1, 0), asked: map[string]int{}}
		f := &agent.Fleet{Open: w.open, Now: time.Now, AtOnce: 3} //nolint:forbidigo // of the bubble
		for n := range w.silent {
			f.Nodes = append(f.Nodes, n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		began := time.Now() //nolint:forbidigo // it is not the real one
		if _, silent := f.Digests(ctx); len(silent) != 1000 || time.Since(began) != 1500*time.Millisecond || len(w.asked) != 3 {
			t.Errorf("%d silent after %s, %d asked", len(silent), time.Since(began), len(w.asked))
		}
	})
}
