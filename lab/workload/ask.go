package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// Bounds of one measurement: the pod stays small whatever is requested.
const (
	maxTargets  = 200
	maxTime     = time.Hour
	every       = 100 * time.Millisecond
	patience    = 2 * time.Second // a request without an answer after this time is lost
	late        = 500 * time.Millisecond
	maxInFlight = 32 // of one target
)

// asking is a measurement that is started and stopped over HTTP.
type asking struct {
	mu      sync.Mutex
	stop    context.CancelFunc
	done    sync.WaitGroup
	targets []*target
	stalls  *stalls
	resent  int
}

// handle serves /start?target=URL&target=URL&slow=N, /stop and /asked. On machines that are N times slower than others, requests are
// sent N times slower, and answers may take N times longer.
func (a *asking) handle() {
	http.HandleFunc("/start", func(w http.ResponseWriter, r *http.Request) {
		answer(w, a.start(r.URL.Query()["target"], r.URL.Query().Get("slow")))
	})
	http.HandleFunc("/stop", func(w http.ResponseWriter, _ *http.Request) {
		go a.end() // requests in progress are waited for; /asked returns the result then
		answer(w, nil)
	})
	http.HandleFunc("/asked", func(w http.ResponseWriter, _ *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.stop != nil || a.targets == nil {
			answer(w, errors.New("no measurement has finished"))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"targets": a.targets, "resent": a.resent})
	})
}

func answer(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	_, _ = w.Write([]byte("{}\n"))
}

func (a *asking) start(urls []string, slow string) error {
	n, err := strconv.Atoi(cmp.Or(slow, "1"))
	if err != nil || n < 1 || n > 64 {
		return errors.New("slow is not a small number")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop != nil {
		return errors.New("a measurement is already running")
	}
	if len(urls) == 0 || len(urls) > maxTargets {
		return errors.New("too few or too many targets")
	}
	a.targets, a.stalls, a.resent = nil, &stalls{}, resent()
	for _, u := range urls {
		where, err := url.Parse(u)
		if err != nil {
			return err
		}
		a.targets = append(a.targets, &target{URL: u, addr: where.Host, slow: time.Duration(n)})
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	a.stop = cancel
	a.done.Go(func() { _ = a.stalls.watch(ctx) }) // without it every loss counts
	for _, t := range a.targets {
		a.done.Go(func() { t.fresh(ctx) })
		a.done.Go(func() { t.kept(ctx) })
	}
	return nil
}

// end stops the measurement and waits for requests in progress.
func (a *asking) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stop == nil {
		return
	}
	a.stop()
	a.done.Wait()
	for _, t := range a.targets {
		t.settle(a.stalls)
	}
	a.stop, a.resent = nil, resent()-a.resent
}
