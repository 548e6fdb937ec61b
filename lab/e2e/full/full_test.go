//go:build e2e

package full

import (
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

var suite = flag.String("suite", "all", "comma-separated scenarios, or all")

func TestMain(m *testing.M) { lab.Main(m) }

// TestScenarios runs the scenarios that leave the cluster usable one after the other on
// one cluster, and each of the others on a separate one.
func TestScenarios(t *testing.T) {
	for _, mode := range stage.Both {
		var shared, alone []stage.Scenario
		for _, sc := range scenarios.All {
			if !slices.Contains(sc.Modes, mode) || (*suite != "all" && !slices.Contains(strings.Split(*suite, ","), sc.Name)) {
				continue
			}
			if sc.Wrecks {
				alone = append(alone, sc)
			} else {
				shared = append(shared, sc)
			}
		}
		t.Run(string(mode), func(t *testing.T) {
			if len(shared) > 0 {
				t.Run("shared", func(t *testing.T) { play(t, mode, shared...) })
			}
			for _, sc := range alone {
				t.Run("alone", func(t *testing.T) { play(t, mode, sc) })
			}
		})
	}
}

func play(t *testing.T, mode lab.Datastore, all ...stage.Scenario) {
	playOn(t, lab.Config{Datastore: mode}, all...)
}

// playOn plays scenarios on one cluster, with agents.
func playOn(t *testing.T, c lab.Config, all ...stage.Scenario) {
	for _, sc := range all {
		c.Nodes = max(c.Nodes, sc.Nodes)
	}
	l := lab.Start(t, c)
	product.InstallAgents(t, l)
	playAll(t, l, all...)
}

func playAll(t *testing.T, l *lab.Lab, all ...stage.Scenario) {
	for _, sc := range all {
		ok := t.Run(sc.Name, func(t *testing.T) {
			o := stage.Options{Tell: func(s string) { t.Log(s) }, Check: agreeing(t, 3*time.Second), Agents: true}
			if err := stage.Play(t.Context(), l, sc, o); err != nil {
				t.Fatal(err)
			}
		})
		if !ok {
			t.Fatalf("%s left the cluster in an unknown state", sc.Name)
		}
	}
}
