package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
)

// every is how often a watch reads what nobody tells the changes of.
const every = 20 * time.Second

// How long a watch waits before it reads all anew, and how long it must have gone well to
// begin with the shortest again.
const (
	firstPause = 2 * time.Second
	lastPause  = 2 * time.Minute
	wentWell   = 5 * time.Minute
)

// watch checks, and then follows what changes; what is new or gone since it began is
// marked.
func (g *global) watch(ctx context.Context, f checkFlags, opts audit.Options) error {
	if f.output != "" && f.output != "table" && f.output != "wide" {
		return fmt.Errorf("-o %s: not with --watch, which shows a line for what is new or gone", f.output)
	}
	p := &printed{g: g, seen: map[string]bool{}, first: true}
	if g.bundle != "" || g.quick || g.probe {
		return g.watchAgain(ctx, f, opts, p)
	}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		began := time.Now() //nolint:forbidigo // compared with itself alone
		err := g.follow(ctx, f, opts, p)
		if ctx.Err() != nil {
			return nil
		}
		if !p.reached {
			return err // it was never there: the wrong one, rather than one that comes back
		}
		if errors.Is(err, audit.ErrDoubled) {
			fmt.Fprintf(g.Stderr, "%s: changes cannot be followed; all is read again every %s\n", clean(err.Error()), every)
			return g.watchAgain(ctx, f, opts, p)
		}
		if time.Since(began) > wentWell {
			pause = firstPause
		}
		if err == nil {
			err = errors.New("the changes are told no longer")
		}
		fmt.Fprintf(g.Stderr, "%s; all is read anew in %s\n", clean(err.Error()), pause)
		if wait(ctx, pause) != nil {
			return nil
		}
	}
}

// watchAgain checks again and again: a part of the pods, or what short-lived pods tell, is
// not followed.
func (g *global) watchAgain(ctx context.Context, f checkFlags, opts audit.Options, p *printed) error {
	for {
		r, err := g.judge(ctx, f, opts)
		if ctx.Err() != nil {
			return nil
		}
		switch {
		case err == nil:
			p.changes(r)
		case p.first:
			return err
		default:
			fmt.Fprintf(g.Stderr, "%s\n", clean(err.Error())) // the cluster may be coming back
		}
		if wait(ctx, every) != nil {
			return nil
		}
	}
}

// printed is what a watch has shown so far.
type printed struct {
	g           *global
	seen        map[string]bool
	unconfirmed map[string]bool // by the watchLoop that is or was, whether shown or not
	unread      []string
	reached     bool // the cluster, once
	first       bool
}

// note keeps what is suspected.
func (p *printed) note(n audit.News) {
	if p.unconfirmed == nil {
		p.unconfirmed = map[string]bool{}
	}
	for _, k := range n.Cleared {
		delete(p.unconfirmed, k)
	}
	for _, k := range n.Raised {
		p.unconfirmed[k] = true
	}
}

// sinceBefore gives, of what stands when everything was read anew, what is news to who
// heard what was suspected before that; and what is suspected no longer.
func (p *printed) sinceBefore(standing []finding.Finding) (n audit.News) {
	now := map[string]bool{}
	for i := range standing {
		now[standing[i].Key()] = true
	}
	for _, k := range sortedKeys(now) {
		if !p.unconfirmed[k] {
			n.Raised = append(n.Raised, k)
		}
	}
	for _, k := range sortedKeys(p.unconfirmed) {
		if !now[k] {
			n.Cleared = append(n.Cleared, k)
		}
	}
	return n
}

// changes prints one line for each finding that came or went, and says what is not seen
// when that is another.
func (p *printed) changes(r *audit.Report) {
	g, cols := p.g, p.g.width()
	at := r.Taken.Time().Local().Format("15:04:05")
	now := map[string]bool{}
	for i := range r.Findings {
		x := &r.Findings[i]
		now[x.Key()] = true
		if !p.seen[x.Key()] {
			mark := map[bool]string{true: " ", false: "+"}[p.first]
			printLines(g.Stdout, cols, fmt.Sprintf("%s %s %-5s %s  %s", mark, at, sev(x.Severity), line(short(x.Key())), line(short(x.Summary))))
		}
	}
	for _, k := range sortedKeys(p.seen) {
		if !now[k] {
			printLines(g.Stdout, cols, fmt.Sprintf("- %s       %s", at, line(short(k))))
		}
	}
	p.seen = now
	if p.first {
		printLines(g.Stdout, cols, totals(r))
	}
	if blind := notSeen(r); !slices.Equal(blind, p.unread) {
		for _, b := range blind {
			printLines(g.Stdout, cols, line(b))
		}
		if len(blind) == 0 {
			printLines(g.Stdout, cols, "All is seen again")
		}
		p.unread = blind
	}
	p.first = false
}
