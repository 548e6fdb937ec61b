package controller

import (
	"context"
	"net/http"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/web"
)

// pagesAtOnce bounds what callers can hold, and turnWithin how long one waits for a turn: a page may have many findings,
// and the controller judges beside it.
const (
	pagesAtOnce = 8
	turnWithin  = 10 * time.Second
)

// pages serves the UI of the leader's last judgement. Who asks reads of pods only what the API server lets them list.
type pages struct {
	state *web.State
	site  http.Handler
	turns chan struct{} // of pages at a time
	callers
}

func newPages(lists func(context.Context, any, string) (bool, error)) *pages {
	s := web.NewState()
	site := &web.Site{State: s, Program: "kubectl plumbline", Where: "the controller", Live: true, Told: true}
	return &pages{state: s, site: site.Handler(), turns: make(chan struct{}, pagesAtOnce), callers: newCallers(lists, s.Namespaces)}
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.state.Judged() {
		http.Error(w, "this replica does not lead, or has judged nothing yet", http.StatusServiceUnavailable)
		return
	}
	who, ok := door.CallerOf(r)
	if !ok {
		http.Error(w, "nobody admitted this request", http.StatusForbidden)
		return
	}
	if strings.HasPrefix(r.URL.Path, "/static/") {
		p.site.ServeHTTP(w, r)
		return
	}
	have, err := p.rightsOf(r.Context(), who)
	if err != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the API server cannot be asked for your rights; retry", http.StatusServiceUnavailable)
		return
	}
	if !have.all {
		r = web.WithRights(r, func(ns string) bool { return have.in[ns] })
	}
	if r.URL.Path != "/live" { // which lasts, and holds nothing
		if !p.turn(r.Context()) {
			w.Header().Set("Retry-After", "5")
			http.Error(w, "too many ask at a time; retry", http.StatusServiceUnavailable)
			return
		}
		defer func() { <-p.turns }()
	}
	p.site.ServeHTTP(w, r)
}

// turn waits for one.
func (p *pages) turn(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, turnWithin)
	defer cancel()
	select {
	case p.turns <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
