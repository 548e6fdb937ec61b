//go:build e2e

package incidents

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	suite = flag.String("suite", "all", "comma-separated scenarios, or all")
	write = flag.Bool("write", false, "write what the commands print into the page")
	keep  = flag.String("bundles", "", "directory into which each incident is collected, for make ui")
)

func TestMain(m *testing.M) { lab.Main(m) }

// TestPage runs the commands of docs/incidents.md as they stand, each incident in its lab.
// Only the time for which findings must persist is shortened.
func TestPage(t *testing.T) {
	bin := product.Binary(t)
	page := filepath.Join(filepath.Dir(filepath.Dir(bin)), "docs", "incidents.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	walks, err := read(lines)
	if err != nil || len(walks) < 5 {
		t.Fatalf("%d incidents, %v", len(walks), err)
	}
	var outputs []output
	for _, w := range walks {
		if *suite != "all" && !slices.Contains(strings.Split(*suite, ","), w.scenario) {
			continue
		}
		t.Run(w.scenario, func(t *testing.T) { outputs = append(outputs, follow(t, bin, w)...) })
	}
	if *write {
		if err := os.WriteFile(page, []byte(strings.Join(written(lines, outputs), "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// follow plays an incident and follows the page at its moment.
func follow(t *testing.T, bin string, w walk) (out []output) {
	at := slices.IndexFunc(scenarios.All, func(s stage.Scenario) bool { return s.Name == w.scenario })
	if at < 0 || len(w.commands) == 0 {
		t.Fatalf("%s: no such scenario, or nothing to do", w.scenario)
	}
	sc := scenarios.All[at]
	l := lab.Start(t, lab.Config{Nodes: sc.Nodes, Datastore: w.mode})
	product.InstallAgents(t, l)
	state, dir := t.TempDir(), t.TempDir()
	followed := false
	check := func(ctx context.Context, s *stage.Stage, moment string, _ []string) error {
		if moment != w.moment {
			return nil
		}
		followed = true
		if _, _, err := stage.Plumbline(ctx, l, bin, state, "check", "--wait", "--settle="+settle); err != nil {
			return err
		}
		if *keep != "" {
			if out, code, err := stage.Plumbline(ctx, l, bin, state, "collect", "--save", filepath.Join(*keep, w.scenario+".tar.gz")); err != nil || code != 0 {
				return fmt.Errorf("collect: %w, exit code %d: %s", err, code, out)
			}
		}
		for i, c := range w.commands {
			last := i == len(w.commands)-1
			text, code, err := typed(ctx, l, bin, state, dir, c.text)
			s.Say("$ %s\n%s(exit code %d)", c.text, text, code)
			if err != nil {
				return err
			}
			out = append(out, output{c, text})
			if strings.Contains(c.text, " apply ") && code != 0 {
				return fmt.Errorf("%s: exit code %d", c.text, code)
			}
			if last && code != 0 {
				if err := clean(ctx, l, bin, state, w.left); err != nil {
					return err
				}
			}
		}
		return stage.ErrRepaired
	}
	err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Check: check, Agents: true, Brief: true})
	if err != nil && !errors.Is(err, stage.ErrRepaired) {
		t.Fatal(err)
	}
	if !followed {
		t.Fatalf("the incident has no moment %q", w.moment)
	}
	return out
}

const settle = "2s"

// typed runs a command as a person types it, in a directory of its own.
func typed(ctx context.Context, l *lab.Lab, bin, state, dir, text string) (string, int, error) {
	args := strings.Fields(text)
	if args[0] == "kubectl" && args[1] != "plumbline" {
		out, err := l.Kubectl(ctx, args[1:]...)
		return out, 0, err
	}
	if args[0] == "kubectl" {
		args = args[1:]
	}
	args = args[1:]
	if settles := []string{"check", "explain", "plan"}; slices.Contains(settles, args[0]) {
		args = append(args, "--settle="+settle)
	}
	if args[0] == "check" || args[0] == "plan" {
		time.Sleep(3 * time.Second) // what has just appeared must persist
	}
	cmd := stage.Command(ctx, l, bin, state, args...)
	cmd.Dir = dir
	var diag strings.Builder
	cmd.Stderr = &diag
	out, err := cmd.Output()
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	if code > 1 && code != 3 {
		return string(out), code, fmt.Errorf("%s: exit code %d: %s", text, code, diag.String())
	}
	shown := strings.NewReplacer(state, "~/.local/state", " --settle="+settle, "", "Next: plumbline", "Next: kubectl plumbline", "undo with plumbline", "undo with kubectl plumbline").Replace(string(out))
	return shown, code, err
}

// clean waits until nothing but what is left on purpose is found.
func clean(ctx context.Context, l *lab.Lab, bin, state, left string) error {
	return lab.Eventually(ctx, 2*time.Minute, func(ctx context.Context) error {
		r, err := stage.CheckWith(ctx, l, bin, state, "--wait", "--settle="+settle)
		if err != nil {
			return err
		}
		found := slices.DeleteFunc(r.Names(), func(name string) bool {
			code, _, _ := strings.Cut(name, "/")
			return slices.Contains(strings.Split(left, "+"), code)
		})
		return stage.Expect(len(found) == 0, "no findings at the end, got %q", found)
	})
}
