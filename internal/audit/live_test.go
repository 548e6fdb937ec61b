package audit_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/live"
	"plumbline.dev/plumbline/internal/model"
)

// After every batch of changes, Live has the same findings with the same evidence as a full
// evaluation.
func TestLiveIsTheWhole(t *testing.T) {
	t.Parallel()
	raised, cleared := map[finding.Code]int{}, map[finding.Code]int{}
	t.Cleanup(func() { everyCode(t, raised, cleared) })
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(0, 2).Draw(t, "faults") {
			if f := faults[rapid.IntRange(0, len(faults)-1).Draw(t, "fault")]; f.fits(w) {
				f.make(w)
			}
		}
		if rapid.Bool().Draw(t, "strict") { // few addresses
			w.s.Info[0].StrictAffinity, w.s.Info[0].MaxBlocks = true, 1
			w.s.Pools = append(w.s.Pools, model.Pool{Name: "tiny", CIDR: w.s.Blocks[0].CIDR, BlockSize: 28})
		}
		if w.pick("told", 4) == 0 { // what Calico does must be seen
			w.s.Info[0].IPAM, w.s.Info[0].Networking = "", ""
		}
		c := &churn{rnd: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), s: &w.s, raised: raised, cleared: cleared}
		if wrong := c.follow(rapid.IntRange(1, 30).Draw(t, "batches"), w.agents); wrong != "" {
			t.Fatal(wrong)
		}
	})
}

// follow lets a Live follow the churn, and tells where it is wrong.
func (c *churn) follow(batches int, agents bool) string {
	begin := copied(c.s)
	l, err := audit.NewLive(begin, audit.Options{Detectors: detect.All})
	if err != nil {
		return err.Error()
	}
	at := now
	anew(l, at)
	var log []string
	var aside *audit.Whole
	for i := range batches {
		c.changes = nil
		for range 1 + c.rnd.IntN(6)/4 { // rarely two
			c.step()
		}
		if !agents { // what nodes say is as old as they were asked
			at = at.Add(durations[c.rnd.IntN(len(durations))])
		}
		for _, ch := range c.changes {
			log = append(log, fmt.Sprintf("%d: %s %+v", i, ch.Ref, ch.Row))
		}
		before := keys(l.Findings())
		if err := c.replaced(l); err != nil {
			return err.Error()
		}
		news, err := l.Apply(c.changes, at)
		if err != nil {
			return err.Error()
		}
		tally(c.raised, news.Raised)
		tally(c.cleared, news.Cleared)
		switch {
		case aside != nil: // all was judged while this happened
			more := l.Adopt(aside, at)
			news.Raised, news.Cleared, aside = append(news.Raised, more.Raised...), append(news.Cleared, more.Cleared...), nil
		case c.rnd.IntN(8) == 0 && !l.Stale():
			aside = l.Anew(at)
			aside.Judge()
		}
		if l.Stale() {
			more := anew(l, at)
			news.Raised, news.Cleared = append(news.Raised, more.Raised...), append(news.Cleared, more.Cleared...)
		}
		if wrong := differ(l.Findings(), c.whole(at), promptly); wrong != "" {
			return fmt.Sprintf("batch %d: %s\n%s", i, wrong, strings.Join(log, "\n"))
		}
		if wrong := told(before, keys(l.Findings()), news); wrong != "" {
			return wrong
		}
	}
	if aside != nil {
		l.Adopt(aside, at)
	}
	l.Fallen(at)
	if wrong := differ(l.Findings(), c.whole(at), func(code finding.Code) bool { return code == "PL5001" }); wrong != "" {
		return wrong
	}
	anew(l, at)
	return differ(l.Findings(), c.whole(at), func(finding.Code) bool { return true })
}

func tally(codes map[finding.Code]int, keys []string) {
	for _, k := range keys {
		code, _, _ := strings.Cut(k, "/")
		codes[finding.Code(code)]++
	}
}

// everyCode: what never came and went proves nothing.
func everyCode(t *testing.T, raised, cleared map[finding.Code]int) {
	t.Helper()
	if all := raised["PL1006"]; all < 2000 {
		return // too few were tried to tell
	}
	for _, d := range detect.All {
		if never := raised[d.Code] == 0 || cleared[d.Code] == 0; never && promptly(d.Code) && !slices.Contains([]finding.Code{"PL9001", "PL9003", "PL9005"}, d.Code) {
			t.Errorf("%s was raised %d times and cleared %d times by a change", d.Code, raised[d.Code], cleared[d.Code])
		}
	}
}

func told(before, after []string, n audit.News) string {
	for _, k := range n.Raised {
		if slices.Contains(before, k) && !slices.Contains(n.Cleared, k) {
			return k + " is not news"
		}
	}
	for _, k := range after {
		if !slices.Contains(before, k) && !slices.Contains(n.Raised, k) && n.Judged > 0 && !late(k) {
			return k + " is news, and was not told"
		}
	}
	return ""
}

func anew(l *audit.Live, at model.Time) audit.News {
	w := l.Anew(at)
	w.Judge()
	return l.Adopt(w, at)
}

// whole judges the truth, all at once.
func (c *churn) whole(at model.Time) []finding.Finding {
	s := copied(c.s)
	s.Meta.Taken = at
	return detect.Run(model.Seal(s), detect.All...).Findings
}

// differ compares findings of some codes in all that they say.
func differ(got, want []finding.Finding, of func(finding.Code) bool) string {
	has := map[string]finding.Finding{}
	for _, f := range got {
		has[f.Key()] = plainly(f)
	}
	for _, f := range want {
		f = plainly(f)
		g, ok := has[f.Key()]
		delete(has, f.Key())
		switch {
		case !of(f.Code):
		case !ok:
			return fmt.Sprintf("%s is missing: %+v", f.Key(), f)
		case !reflect.DeepEqual(f, g):
			return fmt.Sprintf("%s is\n%+v\nwant\n%+v", f.Key(), g, f)
		}
	}
	for k := range has {
		if of(has[k].Code) {
			return fmt.Sprintf("%s is too much: %+v", k, has[k])
		}
	}
	return ""
}

func plainly(f finding.Finding) finding.Finding {
	var from []model.Subject
	for _, s := range f.From {
		from = append(from, live.Canonical(s))
	}
	slices.SortFunc(from, func(a, b model.Subject) int {
		return strings.Compare(a.Table.String()+a.Ref.Name, b.Table.String()+b.Ref.Name)
	})
	f.From = slices.Compact(from)
	return f
}

func keys(fs []finding.Finding) []string {
	var out []string
	for i := range fs {
		out = append(out, fs[i].Key())
	}
	return out
}

func late(key string) bool {
	code, _, _ := strings.Cut(key, "/")
	return !promptly(finding.Code(code))
}

// promptly tells that a code is judged with each change.
func promptly(c finding.Code) bool {
	d := detect.ByCode(c)
	return d != detect.PL5001 && !slices.ContainsFunc(d.Needs, model.Table.OfNode)
}
