package guard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
)

const (
	callGlance = 2 * time.Second
	// lookBehind is how far back each look goes: a line may be written late.
	lookBehind = 10 * time.Second
)

var errFollowText = errors.New("--follow works with -o text only")

// followCalls shows the calls there are, and goes on with what is new until it is stopped.
func followCalls(ctx context.Context, sess *term.Session, p agents, q callsQuestion) error {
	told := map[string]time.Time{}
	silent := map[string]bool{}
	for {
		s := callsOf(ctx, p, q)
		if ctx.Err() != nil {
			return nil
		}
		for i := range s.calls {
			c := &s.calls[i]
			if _, done := told[c.Name]; done {
				continue
			}
			told[c.Name] = c.At
			r := callRow(c, callTime)
			sess.PrintRow(sess.Width(), fmt.Sprintf("%s  %-12s  %-6s  %-24s  %-8s  %6s  %s", r[0], r[1], r[2], r[3], r[4], r[5], r[6]))
		}
		for _, l := range unreadNodes(s.unread) { // once, not every two seconds
			if !silent[l] {
				silent[l] = true
				fmt.Fprintln(sess.Stderr, "no answer: "+plain.Line(l))
			}
		}
		if n := len(s.calls); n > 0 {
			q.since = s.calls[n-1].At.Add(-lookBehind)
		}
		for name, at := range told {
			if at.Before(q.since) {
				delete(told, name)
			}
		}
		if cluster.Wait(ctx, callGlance) != nil {
			return nil
		}
	}
}
