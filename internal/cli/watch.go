package cli

import (
	"context"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/audit"
)

// every is how often a watch looks.
const every = 20 * time.Second

// watch checks again and again; what is new or gone since it began is marked.
func (g *global) watch(ctx context.Context, f checkFlags, opts audit.Options) error {
	begun := map[string]bool{}
	first := true
	for {
		r, err := g.judge(ctx, f, opts)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			fmt.Fprintf(g.Stderr, "%s\n", clean(err.Error())) // the cluster may be coming back
		} else {
			g.changes(r, begun, first)
			first = false
		}
		if wait(ctx, every) != nil {
			return nil
		}
	}
}

// changes prints one line for each finding that came or went, and updates seen.
func (g *global) changes(r *audit.Report, seen map[string]bool, first bool) {
	at := r.Taken.Time().Local().Format("15:04:05")
	cols := g.width()
	now := map[string]bool{}
	for i := range r.Findings {
		x := &r.Findings[i]
		now[x.Key()] = true
		if !seen[x.Key()] {
			mark := map[bool]string{true: " ", false: "+"}[first]
			printLines(g.Stdout, cols, fmt.Sprintf("%s %s %-5s %s  %s", mark, at, sev(x.Severity), line(short(x.Key())), line(short(x.Summary))))
		}
	}
	for _, k := range sortedKeys(seen) {
		if !now[k] {
			printLines(g.Stdout, cols, fmt.Sprintf("- %s       %s", at, line(short(k))))
			delete(seen, k)
		}
	}
	for k := range now {
		seen[k] = true
	}
	if first {
		printLines(g.Stdout, cols, totals(r))
	}
}
