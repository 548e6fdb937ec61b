package audit_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// After every batch of changes the rows give what a whole read would give: the same
// findings, with the same evidence.
func TestRowsFollowChanges(t *testing.T) {
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

// follow lets rows follow the churn, and tells where they are wrong.
func (c *churn) follow(batches int, agents bool) string {
	rows, err := observe.NewRows(copied(c.s))
	if err != nil {
		return err.Error()
	}
	at := now
	var log []string
	before := found(rows, at)
	for i := range batches {
		c.changes = nil
		for range 1 + c.rnd.IntN(6)/4 { // rarely two
			c.step()
		}
		if !agents { // what nodes report is as old as they were asked
			at = at.Add(durations[c.rnd.IntN(len(durations))])
		}
		for _, ch := range c.changes {
			log = append(log, fmt.Sprintf("%d: %s %+v", i, ch.Ref, ch.Row))
		}
		if err := c.replaced(rows); err != nil {
			return err.Error()
		}
		if err := rows.Put(c.changes); err != nil {
			return err.Error()
		}
		after := found(rows, at)
		if wrong := differ(after, c.whole(at)); wrong != "" {
			return fmt.Sprintf("batch %d: %s\n%s", i, wrong, strings.Join(log, "\n"))
		}
		tally(c.raised, after, before)
		tally(c.cleared, before, after)
		before = after
	}
	return ""
}

func found(rows *observe.Rows, at model.Time) []finding.Finding {
	return detect.Run(model.Seal(rows.Snapshot(at)), detect.All...).Findings
}

// tally counts the findings that are in some and not in others.
func tally(codes map[finding.Code]int, in, not []finding.Finding) {
	there := keys(not)
	for i := range in {
		if !slices.Contains(there, in[i].Key()) {
			codes[in[i].Code]++
		}
	}
}

// everyCode: a code that never came and went proves nothing.
func everyCode(t *testing.T, raised, cleared map[finding.Code]int) {
	t.Helper()
	if all := raised["PL1006"]; all < 2000 {
		return // too few were tried to tell
	}
	for _, d := range detect.All {
		if (raised[d.Code] == 0 || cleared[d.Code] == 0) && promptly(d.Code) && !slices.Contains([]finding.Code{"PL9001", "PL9003", "PL9005", "PL9006"}, d.Code) {
			t.Errorf("%s was raised %d times and cleared %d times by a change", d.Code, raised[d.Code], cleared[d.Code])
		}
	}
}

// whole judges the truth, all at once.
func (c *churn) whole(at model.Time) []finding.Finding {
	s := copied(c.s)
	s.Meta.Taken = at
	return detect.Run(model.Seal(s), detect.All...).Findings
}

// differ compares findings in all that they say.
func differ(got, want []finding.Finding) string {
	has := map[string]finding.Finding{}
	for _, f := range got {
		has[f.Key()] = plainly(f)
	}
	for _, f := range want {
		f = plainly(f)
		g, ok := has[f.Key()]
		delete(has, f.Key())
		switch {
		case !ok:
			return fmt.Sprintf("%s is missing: %+v", f.Key(), f)
		case !reflect.DeepEqual(f, g):
			return fmt.Sprintf("%s is\n%+v\nwant\n%+v", f.Key(), g, f)
		}
	}
	for k := range has {
		return fmt.Sprintf("%s is too much: %+v", k, has[k])
	}
	return ""
}

func plainly(f finding.Finding) finding.Finding {
	from := slices.Clone(f.From)
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

// promptly tells that no node must be asked to judge a code.
func promptly(c finding.Code) bool {
	d := detect.ByCode(c)
	return d != detect.PL5001 && !slices.ContainsFunc(d.Needs, model.Table.OfNode)
}
