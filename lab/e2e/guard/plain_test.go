//go:build e2e

package guard

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/scenarios/churn"
	"plumbline.dev/plumbline/lab/stage"
)

var churns = flag.Duration("churn", 45*time.Second, "how long pods start and end with the guard")

// TestPlain starts and ends pods on plain Calico with the guard in mode enforce: nothing
// changes for them, every decision is correct, and nothing is left behind.
func TestPlain(t *testing.T) {
	l := start(t, lab.Config{Nodes: 2, Datastore: lab.KDD}, "enforce")
	sc := churn.Scenario // it requires that calicoctl ipam check reports nothing at its end
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, For: *churns}); err != nil {
		t.Fatal(err)
	}
	for i := range l.Nodes {
		n, err := l.Node(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		all, err := events(n)
		if err != nil {
			t.Fatal(err)
		}
		judge(t, all)
		emptied(t, n)
	}
	found, err := stage.CheckWith(t.Context(), l, product.Binary(t), t.TempDir(), "--wait", "--settle=3s")
	if err != nil || len(found.Findings) > 0 {
		t.Errorf("check reports %v, %v", found.Names(), err)
	}
}

// emptied requires an empty queue.
func emptied(t *testing.T, n *lab.Node) {
	t.Helper()
	var r report
	err := lab.Eventually(t.Context(), 4*time.Minute, func(context.Context) (err error) {
		if r, err = reported(n); err != nil {
			return err
		}
		return stage.Expect(r.Queue == 0, "an empty queue, got %+v", r)
	})
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s: %+v", n.Name, r)
	if r.Lost > 0 || r.Open > 0 || r.Adds.Count == 0 {
		t.Errorf("%s: %+v", n.Name, r)
	}
}

// judge derives each decision from the times of the calls alone, and compares. Calls
// that overlap so that both decisions are correct are skipped.
func judge(t *testing.T, all []event) {
	t.Helper()
	slices.SortFunc(all, func(a, b event) int { return a.began().Compare(b.began()) })
	rules, unclear := map[string]int{}, 0
	for i, e := range all {
		rules[fmt.Sprintf("%s %d", e.Verb, e.Rule)]++
		if len(e.Trouble) > 0 || len(e.Lost) > 0 {
			t.Errorf("error or loss: %s", e)
		}
		switch e.Verb {
		case "ADD":
			if want := 1; e.Rule != want && (e.Code == 0 || e.Rule != 2) {
				t.Errorf("rule %d, want %d: %s", e.Rule, want, e)
			}
		case "DEL":
			late, sure := lateBy(all, i)
			if !sure {
				unclear++
				continue
			}
			if e.Late != late {
				t.Errorf("late %v, want %v: %s", e.Late, late, e)
			}
			if want := ruleOf(all, i); !late && !slices.Contains(want, e.Rule) {
				t.Errorf("rule %d, want %v: %s", e.Rule, want, e)
			}
		}
	}
	t.Logf("%d calls, %d ambiguous: %v", len(all), unclear, rules)
}

// lateBy returns whether a newer sandbox owned the name when the DEL started, and
// whether that is certain.
func lateBy(all []event, at int) (late, sure bool) {
	d := all[at]
	own := slices.IndexFunc(all, func(e event) bool { return e.Verb == "ADD" && e.Container == d.Container })
	if own < 0 {
		return false, true
	}
	sure = true
	for _, a := range all[own+1:] {
		if a.Verb != "ADD" || a.Container == d.Container || a.Namespace != d.Namespace || a.Pod != d.Pod || a.began().After(d.At) {
			continue
		}
		if a.At.After(d.began()) || a.Code != 0 { // it was being added, or failed
			sure = false
			continue
		}
		gone := slices.ContainsFunc(all, func(e event) bool {
			if e.Verb != "DEL" || e.Container != a.Container || e.Code != 0 || e.began().After(d.At) {
				return false
			}
			if e.At.After(d.began()) {
				sure = false
			}
			return true
		})
		late = late || !gone
	}
	return late, sure
}

// ruleOf returns the rules that can apply to a DEL of a name's newest owner.
func ruleOf(all []event, at int) []int {
	d := all[at]
	added, deleted := false, false
	for _, e := range all {
		if e.Container != d.Container {
			continue
		}
		if e.Verb == "ADD" && e.At.Before(d.At) {
			added = true
			if e.At.After(d.began()) {
				return []int{4, 7, 8}
			}
		}
		if e.Verb == "DEL" && e.Code == 0 && e.At.Before(d.began()) {
			deleted = true
		}
	}
	switch {
	case !added:
		return []int{6, 8, 10} // its ADD may have been killed before it was recorded
	case deleted:
		return []int{10}
	default:
		return []int{4, 10, 11} // a failed ADD cleans up by itself
	}
}
