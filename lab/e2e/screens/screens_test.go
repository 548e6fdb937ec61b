//go:build e2e

package screens

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	"plumbline.dev/plumbline/lab/stage"
)

func TestMain(m *testing.M) { lab.Main(m) }

// What is shown: the file in docs/screens, and the command as a reader would type it.
var screens = []struct{ file, command string }{
	{"status", "status"},
	{"check", "check --settle 2s"},
	{"explain", "explain pod etcd1-0 -n late-del --settle 2s"},
	{"plan", "plan PL2001/late-del/etcd1-0 --settle 2s --save PLAN"},
	{"apply", "apply -f PLAN"},
}

// TestScreens writes docs/screens from a late DEL in a real cluster. Its output differs from
// run to run in names and times, so it is run by hand (make screens), and README is held
// against the files by a test of the gate.
func TestScreens(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 2})
	product.InstallAgents(t, l)
	bin, state := product.Binary(t), t.TempDir()
	dir := filepath.Join(filepath.Dir(filepath.Dir(bin)), "docs", "screens")
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	show := func(ctx context.Context, _ *stage.Stage, moment string, _ []string) error {
		if moment != "released" {
			return nil
		}
		if _, _, err := stage.Plumbline(ctx, l, bin, state, "check", "--wait", "--settle=2s"); err != nil {
			return err
		}
		if err := demo(ctx, l, bin, state, filepath.Dir(dir)); err != nil {
			return err
		}
		for _, s := range screens {
			out, code, err := stage.Plumbline(ctx, l, bin, state, strings.Fields(strings.ReplaceAll(s.command, "PLAN", plan))...)
			if err != nil {
				return err
			}
			t.Logf("%s: exit %d\n%s", s.command, code, out)
			shown := "$ kubectl plumbline " + strings.ReplaceAll(strings.ReplaceAll(s.command, "PLAN", "plan.yaml"), " --settle 2s", "") + "\n" + out
			shown = strings.NewReplacer(plan, "plan.yaml", state, "~/.local/state", "Next: plumbline", "Next: kubectl plumbline", "undo with plumbline", "undo with kubectl plumbline").Replace(shown)
			if err := os.WriteFile(filepath.Join(dir, s.file+".txt"), []byte(shown), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
	if err := stage.Play(t.Context(), l, latedel.Scenario, stage.Options{Tell: func(s string) { t.Log(s) }, Check: show, Agents: true}); err != nil {
		t.Fatal(err)
	}
}

// demo writes the bundle of plumbline demo, and the page (bin/timeline.html) of which docs/timeline.png is a picture. The demo's logs are
// those of internal/timeline/testdata/recorded.
func demo(ctx context.Context, l *lab.Lab, bin, state, docs string) error {
	bundle := filepath.Join(filepath.Dir(docs), "internal", "cli", "demo", "bundle.tar.gz")
	if err := os.Remove(bundle); err != nil && !os.IsNotExist(err) {
		return err
	}
	if _, _, err := stage.Plumbline(ctx, l, bin, state, "collect", "--save", bundle); err != nil {
		return err
	}
	page, _, err := stage.Plumbline(ctx, l, bin, state, "timeline", "pod", "etcd1-0", "-n", "late-del", "-o", "html")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(docs), "bin", "timeline.html"), []byte(page), 0o644)
}
