package plugin

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// A session is one call. Invariant: the delegate gets the caller's request at most once.
type session struct {
	*World
	entry    *entry
	call     guard.Call
	delegate delegate
	as       guard.Mode
	db       ownerDB // nil if it could not be opened
	event    guard.Event
	began    time.Time
	keyed    guard.Keying // how the delegate finds objects; empty until goesBy
	absent   error        // why goesBy could not start the delegate: it is missing, or is being replaced

	replays bool // it carries out a queued DEL; no runtime called

	called bool    // the delegate was called with the caller's request
	said   *answer // its answer; nil until it answered
}

// serve answers the call. Whatever fails in the guard, the call is passed to the delegate
// once.
func (s *session) serve(ctx context.Context) (a *answer) {
	if s.as == guard.Off {
		return s.pass(ctx)
	}
	s.began = s.Now()
	defer func() {
		if p := recover(); p != nil {
			s.trouble("the guard panicked", fmt.Errorf("%v", p))
			a = s.pass(ctx)
		}
		s.log(a)
	}()
	s.reach("begin")
	b, err := s.open(filepath.Join(s.Dir, guard.OwnersDir))
	if err != nil {
		s.trouble("open the ownership record", err)
	} else {
		s.db = b
	}
	return s.answer(ctx)
}

// answer dispatches by verb; an unknown one is passed on.
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
	default: // STATUS too: an error of the guard is not an error of the node
		return s.pass(ctx)
	}
}

// pass passes the caller's request to the delegate, once.
func (s *session) pass(ctx context.Context) *answer {
	switch {
	case s.said != nil:
	case s.called:
		s.said = &answer{trouble: errors.New("the guard panicked while the plugin ran")}
	default:
		s.called = true
		s.said = s.delegate.run(ctx, string(s.call.Verb), s.entry.configuration())
	}
	return s.said
}

// trouble records an error of the guard itself.
func (s *session) trouble(what string, err error) {
	if err != nil && len(s.event.Trouble) < 8 {
		s.event.Trouble = append(s.event.Trouble, first(what+": "+err.Error()))
	}
}
