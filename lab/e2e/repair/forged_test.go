//go:build e2e

package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// TestForged: something between the API server and a node answers in the agent's place. Nothing
// is repaired on its word, apply says why, and afterwards the same plan is carried out.
func TestForged(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 2})
	product.InstallAgents(t, l)
	r := &stage.Repair{Bin: product.Binary(t), State: t.TempDir(), Settle: time.Second, Risk: "disruptive"}
	sc := stage.Scenario{Name: "forged", Run: func(ctx context.Context, s *stage.Stage) error {
		pod, err := s.Run(ctx, stage.PodSpec{Name: "web", Node: "node1"})
		if err != nil {
			return err
		}
		if err := s.Leak(ctx, pod, strings.Repeat("ab", 32)); err != nil {
			return err
		}
		if _, err := stage.CheckWith(ctx, l, r.Bin, r.State, "--wait", "--settle="+r.Settle.String()); err != nil {
			return err
		}
		file, _, err := r.Plan(ctx, s)
		if err != nil || file == "" {
			return fmt.Errorf("no plan: %w", err)
		}
		n, err := l.Node(ctx, 1)
		if err != nil {
			return err
		}
		m := between(t, n.Name, n.Addr().String())
		for _, c := range []struct{ mood, why string }{
			{forges, "not signed with the key that the agent published"},
			{sendsAgain, "the answer belongs to another request"},
		} {
			m.be(c.mood)
			out, code, err := stage.Plumbline(ctx, l, r.Bin, r.State, r.Apply("-f", file, "--dry-run=server")...)
			if err != nil || code == 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), c.why) {
				return fmt.Errorf("it %s: exit code %d, %w, want %q in\n%s", c.mood, code, err, c.why, out)
			}
			if m.lied.Load() == 0 {
				return fmt.Errorf("it %s: it was never asked", c.mood)
			}
		}
		m.end()
		out, code, err := stage.Plumbline(ctx, l, r.Bin, r.State, r.Apply("-f", file)...)
		if err != nil || code != 0 {
			return fmt.Errorf("without it: exit code %d, %w\n%s", code, err, out)
		}
		return writtenAs(l, "system:serviceaccount:plumbline-system:plumbline-repairer")
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Keep: true}); err != nil {
		t.Error(err)
	}
}

// writtenAs requires that plumbline wrote Calico's blocks as this user, although an administrator
// ran it.
func writtenAs(l *lab.Lab, user string) error {
	b, err := os.ReadFile(l.AuditLog())
	if err != nil {
		return err
	}
	writes := 0
	for line := range bytes.Lines(b) {
		var r struct {
			Verb, UserAgent string
			User            struct{ Username string }
			ObjectRef       struct{ Resource string }
		}
		if json.Unmarshal(line, &r) != nil || r.UserAgent != "plumbline" || r.ObjectRef.Resource != "ipamblocks" || !slices.Contains([]string{"create", "update", "delete"}, r.Verb) {
			continue
		}
		writes++
		if r.User.Username != user {
			return fmt.Errorf("a block was written by %s", r.User.Username)
		}
	}
	return stage.Expect(writes > 0, "writes of blocks in the audit log")
}
