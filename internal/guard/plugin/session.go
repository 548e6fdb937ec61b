package plugin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// A session is one call.
type session struct {
	*World
	entry    *entry
	call     guard.Call
	delegate delegate
	as       guard.Mode
	db       ownerDB // nil if there is none
	event    guard.Event
	began    time.Time
	keyed    guard.Keying // by what the delegate finds things; empty if nobody asked

	replays bool // nobody called: it is from the queue

	called bool    // the delegate was
	said   *answer // and said this
}

// serve answers the call. Whatever breaks on our side, the delegate was called once.
func (s *session) serve(ctx context.Context) (a *answer) {
	s.as = s.mode()
	if s.as == guard.Off {
		return s.pass(ctx)
	}
	s.began = s.Now()
	defer func() {
		if p := recover(); p != nil {
			s.trouble("the guard broke", fmt.Errorf("%v", p))
			a = s.pass(ctx)
		}
		s.log(a)
	}()
	s.reach("begin")
	b, err := s.open(filepath.Join(s.Dir, guard.OwnersDir))
	if err != nil {
		s.trouble("no record", err)
	} else {
		s.db = b
	}
	return s.answer(ctx)
}

// answer does what the verb asks; one that is not known to us is handed on.
func (s *session) answer(ctx context.Context) *answer {
	switch s.call.Verb {
	case guard.Add:
		return s.add(ctx)
	case guard.Del:
		return s.del(ctx)
	case guard.Check:
		return s.check(ctx)
	case guard.GC:
		return s.collect(ctx)
	default: // STATUS too: our own troubles are not the node's
		return s.pass(ctx)
	}
}

// pass hands the caller's request to the delegate, once.
func (s *session) pass(ctx context.Context) *answer {
	switch {
	case s.said != nil:
	case s.called:
		s.said = &answer{trouble: errors.New("the guard broke while the plugin ran")}
	default:
		s.called = true
		s.said = s.delegate.run(ctx, string(s.call.Verb), s.entry.configuration())
	}
	return s.said
}

// trouble notes what went wrong with ourselves.
func (s *session) trouble(what string, err error) {
	if err != nil && len(s.event.Trouble) < 8 {
		s.event.Trouble = append(s.event.Trouble, first(what+": "+err.Error()))
	}
}
