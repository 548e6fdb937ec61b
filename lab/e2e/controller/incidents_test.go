//go:build e2e

package controller

import (
	"context"
	"flag"
	"fmt"
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

// TestIncidents: at each moment of each incident the findings that check reports are objects, each with an Event and a
// firing alert, and no object has what check does not say; after the repair, or the end of the cause, they are resolved and no alert is left.
func TestIncidents(t *testing.T) {
	for _, mode := range stage.Both {
		t.Run(string(mode), func(t *testing.T) {
			var shared, alone []stage.Scenario
			for _, sc := range scenarios.All {
				switch {
				case !slices.Contains(sc.Modes, mode) || sc.Name == "churn" || *suite != "all" && !slices.Contains(strings.Split(*suite, ","), sc.Name):
				case sc.Wrecks:
					alone = append(alone, sc)
				default:
					shared = append(shared, sc)
				}
			}
			if len(shared) > 0 {
				t.Run("shared", func(t *testing.T) { follow(t, mode, shared) })
			}
			for _, sc := range alone {
				t.Run("alone", func(t *testing.T) { follow(t, mode, []stage.Scenario{sc}) })
			}
		})
	}
}

// follow plays scenarios on one cluster, with a controller and a Prometheus.
func follow(t *testing.T, mode lab.Datastore, all []stage.Scenario) {
	nodes := 2
	for _, sc := range all {
		nodes = max(nodes, sc.Nodes)
	}
	b := startOn(t, lab.Config{Nodes: nodes, Datastore: mode}, 0)
	b.more = []string{"--settle", settle.String(), "--probes", probes}
	b.run("controller-0")
	w := &follower{monitor: newMonitor(b, briefly)}
	for _, sc := range all {
		if !t.Run(sc.Name, func(t *testing.T) { w.play(t, sc) }) {
			t.Fatalf("%s left the cluster in an unknown state", sc.Name)
		}
	}
}

// A follower compares what the controller says with what an incident is.
type follower struct{ *monitor }

func (w *follower) play(t *testing.T, sc stage.Scenario) {
	defer func(outer *testing.T) { w.t = outer }(w.t)
	w.t = t
	r := &stage.Repair{Bin: product.Binary(t), State: t.TempDir(), Settle: settle, Risk: "destructive", Left: sc.Left}
	if sc.Name == "leaked-endpoints" { // of nearly all addresses: plan refuses that by itself
		r.Args = []string{"--allow-mass-change"}
	}
	r.After = func(ctx context.Context, _ *stage.Stage) error { return w.resolved(ctx, sc.Left) }
	repaired := r.Checker()
	check := func(ctx context.Context, s *stage.Stage, moment string, want []string) error {
		began := time.Now()
		if err := w.tells(ctx, s, moment, want, r); err != nil {
			return err
		}
		t.Logf("%s: %d findings are objects, with Events and firing alerts, %.1f s after it (settling %s; an object is written once a minute)", moment, len(want), time.Since(began).Seconds(), settle)
		if sc.ByCause || sc.Name == "stale-nodename" { // whose repair begins on the node, by hand
			return nil
		}
		return repaired(ctx, s, moment, want)
	}
	if err := stage.Play(t.Context(), w.Lab, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Check: check, Agents: true}); err != nil {
		t.Fatal(err)
	}
	if sc.Wrecks {
		return
	}
	if err := w.resolved(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

const written = 2 * time.Minute // settling, a minute between two writes of an object, and a judgement

// tells waits until the findings are objects, each object has an Event, and its code an alert. Besides, an incident may show
// more as it goes on; then check says it too, or that another finding explains it: an object stays until it is gone.
func (w *follower) tells(ctx context.Context, s *stage.Stage, moment string, want []string, r *stage.Repair) error {
	var now map[string]finding
	err := lab.Eventually(ctx, written, func(ctx context.Context) (err error) {
		if now, err = w.findings(ctx); err != nil {
			return err
		}
		is := subjects(now)
		unnamed := map[string]int{} // an object lists twenty
		for _, f := range is {
			if code, ok := strings.CutSuffix(f, more); ok {
				unnamed[code]++
			}
		}
		lacks := slices.DeleteFunc(slices.Clone(want), func(f string) bool {
			code, _, _ := strings.Cut(f, "/")
			unnamed[code]--
			if slices.Contains(is, f) {
				unnamed[code]++
				return true
			}
			return unnamed[code] >= 0
		})
		if len(lacks) > 0 {
			return fmt.Errorf("%w: %q as objects, got %q", stage.ErrSymptom, lacks, is)
		}
		if len(is) == len(want) {
			return nil
		}
		seen, err := stage.CheckWith(ctx, s.Lab, r.Bin, r.State, "--settle="+settle.String())
		said := seen.Names()
		for _, f := range seen.Findings {
			said = append(said, f.Explains...)
		}
		for _, f := range seen.Unconfirmed {
			said = append(said, f.Name)
		}
		only := slices.DeleteFunc(is, func(f string) bool { return slices.Contains(said, f) || strings.HasSuffix(f, more) })
		return expect(err, len(only) == 0, "no objects of %q, of which check says %q", only, said)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", moment, err)
	}
	return lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		firing, err := w.firing(ctx)
		if err != nil {
			return err
		}
		for name, f := range now {
			about := func(w string) bool {
				return strings.HasPrefix(strings.ToLower(w), name[:strings.IndexByte(name, '-')]+"/")
			}
			if f.Status.State != "Confirmed" || !slices.ContainsFunc(want, about) { // an object may be a minute behind the alert
				continue
			}
			events, err := w.events(ctx, name)
			if err := expect(err, strings.Contains(events, "Confirmed"), "an Event of %s, got %q", name, events); err != nil {
				return err
			}
			code, _, _ := strings.Cut(name, "-")
			if alert := alerts[f.Status.Severity]; alert != "" {
				if _, is := firing[alert+" "+strings.ToUpper(code)]; !is {
					return fmt.Errorf("%w: no alert %s of %s: %v", stage.ErrSymptom, alert, name, firing)
				}
			}
		}
		return nil
	})
}

// alerts by the severity of what they tell; info is not alerted.
var alerts = map[string]string{"error": "PodNetworkBroken", "warning": "PodNetworkDrift"}

const more = "/(more)"

// subjects are the confirmed findings of objects, as check names them.
func subjects(all map[string]finding) []string {
	out := []string{}
	for name, f := range all {
		if f.Status.State != "Confirmed" {
			continue
		}
		code, _, _ := strings.Cut(name, "-")
		for _, s := range f.Status.Samples {
			out = append(out, strings.ToUpper(code)+"/"+s.Subject)
		}
		for range f.Status.Count - len(f.Status.Samples) {
			out = append(out, strings.ToUpper(code)+more)
		}
	}
	slices.Sort(out)
	return out
}

// resolved waits until no finding but those left is confirmed, and no alert of findings fires for others.
func (w *follower) resolved(ctx context.Context, left []string) error {
	began := time.Now()
	stays := func(code string) bool {
		return slices.ContainsFunc(left, func(l string) bool { return strings.HasPrefix(l, code+"/") })
	}
	err := lab.Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		all, err := w.findings(ctx)
		if err != nil {
			return err
		}
		still := slices.DeleteFunc(subjects(all), func(s string) bool { code, _, _ := strings.Cut(s, "/"); return stays(code) })
		if err := stage.Expect(len(still) == 0, "no finding, got %q", still); err != nil {
			return err
		}
		firing, err := w.firing(ctx)
		for name := range firing {
			if _, code, ok := strings.Cut(name, " "); ok && !stays(code) {
				return fmt.Errorf("%w: alert %s still fires", stage.ErrSymptom, name)
			}
		}
		return err
	})
	w.t.Logf("resolved, and no alert, after %.1f s", time.Since(began).Seconds())
	return err
}
