package repair

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/repair"
)

// What -o json prints is what its schema says: also of a journal that breaks off.
func TestDocuments(t *testing.T) {
	t.Parallel()
	broken := errors.New("the last record is cut off")
	at := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		kind string
		show func(sess *term.Session) error
		want error
	}{
		{"Plan", func(sess *term.Session) error { return showPlan(sess, rescue(), planFlags{output: "json"}) }, nil},
		{"Plan", func(sess *term.Session) error { return showPlan(sess, litter(), planFlags{output: "json"}) }, nil},
		{"Plan", func(sess *term.Session) error { return showPlan(sess, &repair.Plan{}, planFlags{output: "json"}) }, nil},
		{"History", func(sess *term.Session) error { return showHistory(sess, nil, "json") }, nil},
		{"History", func(sess *term.Session) error {
			return showHistory(sess, []cluster.Applied{{Plan: "7f3a1c", State: "finished", Made: at, Last: at, Risk: rescue().Risk(), Targets: []string{"PL2001/shop/db-0"}, Steps: 4, Tried: 4}, {Plan: "c81d", State: "broken", Why: "cut off"}}, "json")
		}, nil},
		{"PlanHistory", func(sess *term.Session) error {
			es := []repair.Entry{{At: 1_800_000_000, Step: 1, Outcome: repair.Intent, Was: json.RawMessage(`{}`)}, {Step: 1, Outcome: repair.Done}}
			return showPlanHistory(sess, "7f3a1c", rescue(), es, broken, "json")
		}, broken},
	} {
		termtest.Conforms(t, c.kind, func(sess *term.Session) {
			if err := c.show(sess); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.kind, err)
			}
		})
	}
}
