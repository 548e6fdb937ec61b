package controller

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/observe"
	"plumbline.dev/plumbline/internal/web"
)

// rightsFor is how long an answer of the API server about somebody's rights is used, rightsAtOnce how many questions are
// asked of it at a time, and mostCallers how many callers are remembered.
const (
	rightsFor    = time.Minute
	rightsAtOnce = 8
	mostCallers  = 256
	mostAsked    = 5000 // namespaces; in others nothing is shown to who may not list all pods
)

// pages serves the UI of the leader's last judgement. Who asks reads of pods only what the API server lets them list.
type pages struct {
	state *web.State
	site  http.Handler
	lists func(ctx context.Context, owner any, namespace string) (bool, error)

	mu    sync.Mutex
	known map[[32]byte]rights // by token
	turn  sync.Mutex          // one caller's rights are asked for at a time
}

// rights are those of one caller.
type rights struct {
	all   bool
	in    map[string]bool // namespaces; one that is not there is refused
	until time.Duration   // observe.Uptime
}

func newPages(lists func(context.Context, any, string) (bool, error)) *pages {
	s := web.NewState()
	site := &web.Site{State: s, Program: "kubectl plumbline", Where: "the controller", Live: true}
	return &pages{state: s, site: site.Handler(), lists: lists, known: map[[32]byte]rights{}}
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
	p.site.ServeHTTP(w, r)
}

// rightsOf asks the API server in which namespaces somebody may list pods.
func (p *pages) rightsOf(ctx context.Context, who door.Caller) (rights, error) {
	recall := func() (rights, bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		have, ok := p.known[who.Key]
		return have, ok && observe.Uptime() < have.until
	}
	if have, ok := recall(); ok {
		return have, nil
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	have, ok := recall()
	if ok { // a page asks for several things at once
		return have, nil
	}
	all, err := p.lists(ctx, who.Owner, "")
	if err != nil {
		return rights{}, err
	}
	have = rights{all: all, in: map[string]bool{}, until: observe.Uptime() + rightsFor}
	if !all {
		if err := p.askEach(ctx, who.Owner, have.in); err != nil {
			return rights{}, err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) >= mostCallers {
		clear(p.known)
	}
	p.known[who.Key] = have
	return have, nil
}

// askEach asks for each namespace that anything is in. If one question fails, nothing is known.
func (p *pages) askEach(ctx context.Context, owner any, in map[string]bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	spaces := p.state.Namespaces()
	spaces = spaces[:min(len(spaces), mostAsked)]
	questions := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range rightsAtOnce {
		wg.Go(func() {
			for ns := range questions {
				yes, err := p.lists(ctx, owner, ns)
				if err != nil {
					cancel(err)
					continue
				}
				mu.Lock()
				in[ns] = yes
				mu.Unlock()
			}
		})
	}
	for _, ns := range spaces {
		select {
		case questions <- ns:
		case <-ctx.Done():
		}
	}
	close(questions)
	wg.Wait()
	return context.Cause(ctx)
}
