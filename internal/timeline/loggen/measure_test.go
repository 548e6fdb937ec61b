package loggen_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/loggen"
	"plumbline.dev/plumbline/internal/timeline/parse"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// told reads inputs as the product does.
func told(ctx context.Context, in []records.Input, now time.Time) (*timeline.Log, error) {
	l := timeline.NewLog()
	files, err := records.All(ctx, in, records.Options{
		Now: now, Wants: parse.Wants,
		Parser: func(_ uint16, f *timeline.File) func(*records.Record) { return parse.New(f, l.Add).Parse },
	})
	if err != nil {
		return nil, err
	}
	l.SetFiles(files)
	return l, nil
}

// verdicts gives all that a log leads to, of pods, of addresses and of nodes.
func verdicts(l *timeline.Log, each ...func(*timeline.Story)) []timeline.Verdict {
	var out []timeline.Verdict
	for s := range l.Stories {
		for _, f := range each {
			f(s)
		}
		timeline.Judge(s)
		out = append(out, s.Verdicts...)
	}
	return slices.Concat(out, timeline.JudgeAddresses(l), timeline.JudgeListings(l), timeline.JudgeNodes(l))
}

// A score counts the expected and the found verdicts of one cause.
type score struct {
	truths, hit, excused int // excused: not found, and no line is left that shows it
	wrong                int // verdicts that are not true
	proven               int // of those that hit
}

func (s *score) precision() float64 { return 1 - float64(s.wrong)/float64(max(1, s.hit+s.wrong)) }

func (s *score) strict() float64 { return float64(s.hit) / float64(max(1, s.truths)) }

func (s *score) recall() float64 { return float64(s.hit) / float64(max(1, s.truths-s.excused)) }

// scores are by cause.
type scores map[timeline.Cause]*score

func (s scores) of(c timeline.Cause) *score {
	if s[c] == nil {
		s[c] = &score{}
	}
	return s[c]
}

// hold holds what was found against what was played, and says where they differ.
func (s scores) hold(h *loggen.History, l *timeline.Log, say func(string)) {
	got := map[loggen.Key]*timeline.Verdict{}
	for _, v := range verdicts(l) {
		if k := loggen.KeyOf(&v); got[k] == nil {
			got[k] = &v
		}
	}
	for i := range h.Truth {
		t := &h.Truth[i]
		c := s.of(t.Cause)
		c.truths++
		v := got[t.Key()]
		delete(got, t.Key())
		switch {
		case v != nil:
			c.hit++
			if v.Certainty == timeline.Proven {
				c.proven++
			}
		case h.Excused(t):
			c.excused++
		default:
			say(fmt.Sprintf("seed %d: MISSED %s (%s) of %s on %s, culprit %.12s, victim %.12s", h.Seed, t.Cause, t.Scene, t.Pod, t.Node, t.Culprit, t.Victim))
		}
	}
	for _, v := range got {
		s.of(v.Cause).wrong++
		say(fmt.Sprintf("seed %d: WRONG %s (%s) of %s on %s, culprit %.12s, victim %.12s: %s", h.Seed, v.Cause, v.Certainty, v.Pod, v.Node, v.Culprit, v.Victim, v.Says))
	}
}

func (s scores) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-26s %6s %6s %6s %6s %6s  %9s %7s %7s\n", "verdict", "truths", "found", "proven", "excus.", "wrong", "precision", "strict", "recall")
	for _, c := range causes {
		x := s.of(c)
		fmt.Fprintf(&b, "%-26s %6d %6d %6d %6d %6d  %9.4f %7.4f %7.4f\n", c, x.truths, x.hit, x.proven, x.excused, x.wrong, x.precision(), x.strict(), x.recall())
	}
	return b.String()
}

// inMemory gives a history's files as a directory would hold them.
func inMemory(t *testing.T, h *loggen.History) []records.Input {
	t.Helper()
	dir := fstest.MapFS{}
	for name, b := range h.Files() {
		dir[name] = &fstest.MapFile{Data: b, ModTime: h.Begin.Add(h.Lasts)}
	}
	in, err := records.Walk(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	return in
}
