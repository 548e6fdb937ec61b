package guard_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// The guide has the rules word by word, and in order.
func TestGuideHasTheRules(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/guard.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(b)
	for i, r := range guard.Rules {
		if r.Number != i+1 || guard.RuleOf(r.Number) != r {
			t.Errorf("rule %d stands at %d", r.Number, i+1)
		}
		row := fmt.Sprintf("| %d | %s | %s | %s | %s |\n", r.Number, r.Title, r.Does, r.Why, r.Alone)
		_, after, ok := strings.Cut(guide, row)
		if !ok {
			t.Fatalf("docs/guard.md lacks, or has elsewhere:\n%s", row)
		}
		guide = after
	}
}

// What decide can say has a line, and what it cannot say has words.
func TestEveryDecisionHasARule(t *testing.T) {
	t.Parallel()
	for _, verb := range []guard.Verb{guard.Add, guard.Del, guard.Check, guard.GC, guard.Status} {
		d := guard.Decide(guard.Call{Verb: verb}, guard.Known{})
		if r := guard.RuleOf(d.Rule); r.Number < 1 || r.Title == "no rule" {
			t.Errorf("%s: rule %d", verb, d.Rule)
		}
	}
	for _, n := range []int{-1, 0, len(guard.Rules) + 1} {
		if r := guard.RuleOf(n); r.Title != "no rule" || r.Does == "" || r.Why == "" {
			t.Errorf("rule %d: %+v", n, r)
		}
	}
}

func TestAlone(t *testing.T) {
	t.Parallel()
	for keyed, says := range map[guard.Keying]string{
		guard.ByName: "by the pod's name", guard.ByBoth: "named after the pod", guard.ByContainer: "only records", guard.NotKnown: "is unknown", "": "is unknown",
	} {
		e := guard.Event{Rule: 5, Late: true, Keyed: keyed}
		if !strings.Contains(e.Alone(), says) || !e.Stopped() {
			t.Errorf("%s: %s", keyed, e.Alone())
		}
	}
	e := guard.Event{Rule: 4, Called: true}
	if e.Alone() != "the same" || e.Stopped() {
		t.Error(e.Alone())
	}
}
