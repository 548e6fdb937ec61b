package controller

import (
	"context"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/observe"
)

// rightsFor is how long an answer of the API server about somebody's rights is used, rightsWithin how long it may take,
// rightsAtOnce how many questions about namespaces are asked of it at a time, and mostCallers how many callers are
// remembered.
const (
	rightsFor    = time.Minute
	rightsWithin = time.Minute
	rightsAtOnce = 8
	mostCallers  = 256
	mostAsked    = 5000 // namespaces; in others nothing is shown to who may not list all pods
)

// callers are those who asked for pages, and their rights. One who may not list all pods does not keep others waiting.
type callers struct {
	lists  func(ctx context.Context, owner any, namespace string) (bool, error)
	spaces func() []string

	mu    sync.Mutex
	known map[[32]byte]rights  // by token
	asked map[[32]byte]*asking // likewise

	questions chan struct{} // about namespaces, of all callers
}

// rights are those of one caller.
type rights struct {
	all   bool
	in    map[string]bool // namespaces; one that is not there is refused
	until time.Duration   // observe.Uptime
}

// An asking is for the rights of one caller: all requests of theirs wait for it, and it goes on when none does.
type asking struct {
	done chan struct{}
	have rights
	err  error
}

func newCallers(lists func(context.Context, any, string) (bool, error), spaces func() []string) callers {
	return callers{lists: lists, spaces: spaces, known: map[[32]byte]rights{}, asked: map[[32]byte]*asking{}, questions: make(chan struct{}, rightsAtOnce)}
}

// rightsOf asks the API server in which namespaces somebody may list pods.
func (c *callers) rightsOf(ctx context.Context, who door.Caller) (rights, error) {
	c.mu.Lock()
	have, ok := c.known[who.Key]
	if ok && observe.Uptime() < have.until {
		c.mu.Unlock()
		return have, nil
	}
	a := c.asked[who.Key]
	if a == nil {
		a = &asking{done: make(chan struct{})}
		c.asked[who.Key] = a
		go c.ask(context.WithoutCancel(ctx), who, a)
	}
	c.mu.Unlock()
	select {
	case <-a.done:
		return a.have, a.err
	case <-ctx.Done():
		return rights{}, ctx.Err()
	}
}

func (c *callers) ask(ctx context.Context, who door.Caller, a *asking) {
	ctx, cancel := context.WithTimeout(ctx, rightsWithin)
	defer cancel()
	a.have = rights{in: map[string]bool{}}
	if a.have.all, a.err = c.lists(ctx, who.Owner, ""); a.err == nil && !a.have.all {
		a.err = c.askEach(ctx, who.Owner, a.have.in)
	}
	a.have.until = observe.Uptime() + rightsFor
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, who.Key)
	if a.err == nil {
		if len(c.known) >= mostCallers {
			clear(c.known)
		}
		c.known[who.Key] = a.have
	}
	close(a.done)
}

// askEach asks for each namespace that anything is in. If one question fails, nothing is known.
func (c *callers) askEach(ctx context.Context, owner any, in map[string]bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	spaces := c.spaces()
	spaces = spaces[:min(len(spaces), mostAsked)]
	todo := make(chan string)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range rightsAtOnce {
		wg.Go(func() {
			for ns := range todo {
				c.questions <- struct{}{}
				yes, err := c.lists(ctx, owner, ns)
				<-c.questions
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
		case todo <- ns:
		case <-ctx.Done():
		}
	}
	close(todo)
	wg.Wait()
	return context.Cause(ctx)
}
