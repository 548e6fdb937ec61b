package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

// watch checks, and then follows what changes; what is new or gone since the last judgement
// is marked.
func watch(ctx context.Context, sess *term.Session, f flags, opts audit.Options) error {
	if f.output != "" && f.output != "text" && f.output != "wide" {
		return fmt.Errorf("-o %s: not with --watch, which shows a line for what is new or gone", f.output)
	}
	if sess.Bundle != "" {
		return errors.New("--bundle: not with --watch: a file does not change")
	}
	o, done := sess.Options()
	p := &printed{sess: sess, first: true}
	w := cluster.Watch{Options: o, Audit: opts, Namespace: f.namespace, Labels: f.selector, Each: func(pass cluster.Pass) {
		done()
		p.unconfirmedLines(pass)
		p.changes(pass.Report)
	}}
	return w.Run(ctx)
}

// printed is what a watch has shown so far.
type printed struct {
	sess        *term.Session
	seen        map[string]bool
	unconfirmed map[string]bool
	unread      []string
	first       bool
}

// unconfirmedLines tells with -v which findings are new and which are gone, confirmed or
// not, and how long after the first of the changes that were judged.
func (p *printed) unconfirmedLines(pass cluster.Pass) {
	now := map[string]bool{}
	for _, fs := range [][]finding.Finding{pass.Findings, pass.Unconfirmed, pass.Folded} {
		for i := range fs {
			now[fs[i].Key()] = true
		}
	}
	before := p.unconfirmed
	p.unconfirmed = now
	if !p.sess.Verbose {
		return
	}
	at := time.Now() //nolint:forbidigo // for the person who reads it; nothing is judged by it
	took := fmt.Sprintf(", judged in %s", pass.Took.Round(time.Millisecond))
	if !pass.Changed.IsZero() {
		took += fmt.Sprintf(", %.1f ms after the first change", float64(at.Sub(pass.Changed).Microseconds())/1000)
	}
	say := func(what string, of, not map[string]bool) {
		for _, k := range slices.Sorted(maps.Keys(of)) {
			if !not[k] {
				fmt.Fprintf(p.sess.Stderr, "%s %s %s%s\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), what, plain.Line(k), took)
			}
		}
	}
	say("unconfirmed", now, before)
	say("cleared", before, now)
}

// changes prints one line for each finding that came or went, and says what is not seen
// when that is another.
func (p *printed) changes(r *audit.Report) {
	sess, cols := p.sess, p.sess.Width()
	at := r.Taken.Time().UTC().Format("2006-01-02 15:04:05 UTC")
	now := map[string]bool{}
	for i := range r.Findings {
		x := &r.Findings[i]
		now[x.Key()] = true
		if !p.seen[x.Key()] {
			mark := map[bool]string{true: " ", false: "+"}[p.first]
			sess.PrintLines(cols, fmt.Sprintf("%s %s %-5s %s  %s", mark, at, sev(x.Severity), plain.ShortIDs(x.Key()), plain.ShortIDs(x.Summary)))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(p.seen)) {
		if !now[k] {
			sess.PrintLines(cols, fmt.Sprintf("- %s       %s", at, plain.ShortIDs(k)))
		}
	}
	p.seen = now
	if p.first {
		sess.PrintLines(cols, r.Totals("finding"))
	}
	if blind := r.NotChecked(); !slices.Equal(blind, p.unread) {
		for _, b := range blind {
			sess.PrintLines(cols, b)
		}
		if len(blind) == 0 {
			sess.PrintLines(cols, "Everything is read completely again")
		}
		p.unread = blind
	}
	p.first = false
}
