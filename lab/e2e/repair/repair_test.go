//go:build e2e

package repair

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/scenarios"
	"plumbline.dev/plumbline/lab/stage"
)

var (
	suite  = flag.String("suite", "all", "comma-separated scenarios, or all")
	keep   = flag.Duration("keep", 0, "how long to keep the cluster after a failure")
	moment = flag.String("moment", "", "the moment of the incident at which it is repaired; the first if empty")
	brief  = flag.Bool("brief", false, "omit long steps")
	calm   = flag.Bool("calm", false, "undo without pods that start and end meanwhile")
	goesOn = flag.Duration("goes-on", 70*time.Second, "how long Calico runs after each repair")
)

func TestMain(m *testing.M) { lab.Main(m) }

const settle = 3 * time.Second

// TestRepair repairs every incident, in each of its modes.
func TestRepair(t *testing.T) {
	each(t, func(r *stage.Repair, name string) { withChecks(r, name) })
}

// undoneUnderChurn are the incidents on whose nodes pods can start and end: the others
// break new pods too.
var undoneUnderChurn = []string{"ipam-drift", "shared-address", "no-gateway", "legacy-handle"}

// TestUndo undoes every repair, and then repairs again; half of them while pods start
// and end.
func TestUndo(t *testing.T) {
	each(t, func(r *stage.Repair, name string) {
		withChecks(r, name)
		churns := slices.Contains(undoneUnderChurn, name) && !*calm
		story := r.After
		r.After = func(ctx context.Context, s *stage.Stage) error {
			if err := undone(ctx, s, r, churns); err != nil {
				return err
			}
			if name == "leaked-endpoints" { // its checks expect one plan: there are two by now
				return goOn(ctx, s, r)
			}
			return story(ctx, s)
		}
	})
}

// each runs the selected incidents; with configures how they are repaired.
func each(t *testing.T, with func(r *stage.Repair, name string)) {
	if !slices.ContainsFunc(scenarios.All, func(sc stage.Scenario) bool { return chosen(sc, sc.Modes[0]) }) {
		t.Fatalf("-suite=%s chooses nothing that a repair ends", *suite)
	}
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			for _, sc := range scenarios.All {
				if chosen(sc, mode) {
					t.Run(sc.Name, func(t *testing.T) { play(t, mode, sc, with) })
				}
			}
		})
	}
}

// chosen returns whether the incident is selected in that mode.
func chosen(sc stage.Scenario, mode lab.Datastore) bool {
	return slices.Contains(sc.Modes, mode) && !sc.ByCause && (*suite == "all" || slices.Contains(strings.Split(*suite, ","), sc.Name))
}

// play repairs one incident on a separate cluster, while requests are sent to its
// healthy pods.
func play(t *testing.T, mode lab.Datastore, sc stage.Scenario, with func(r *stage.Repair, name string)) {
	l := lab.Start(t, lab.Config{Nodes: sc.Nodes, Datastore: mode})
	product.InstallAgents(t, l)
	tell := func(s string) { t.Log(s) }
	var harm *stage.Harm
	if sc.Name != "cascade" { // there, an image on all nodes is part of the findings
		var err error
		if harm, err = stage.NewHarm(t.Context(), l, tell); err != nil {
			t.Fatal(err)
		}
	}
	r := &stage.Repair{Bin: product.Binary(t), State: t.TempDir(), Settle: settle, Risk: "destructive", Harm: harm, Moment: *moment, Left: sc.Left}
	with(r, sc.Name)
	o := stage.Options{Tell: tell, Check: r.Checker(), Agents: true, Brief: *brief}
	if err := stage.Play(t.Context(), l, sc, o); err != nil {
		t.Error(err)
		time.Sleep(*keep)
	}
	if len(r.Plans()) == 0 {
		t.Error("nothing was repaired")
	}
}
