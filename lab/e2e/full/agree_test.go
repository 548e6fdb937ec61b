//go:build e2e

package full

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// agreeing is a checker that also asks explain about every pod of the scenario: what check has
// confirmed about the pod or its whole node, explain says too.
func agreeing(t *testing.T, settle time.Duration) stage.Checker {
	bin, state := product.Binary(t), t.TempDir()
	check := stage.NewChecker(bin, state, settle)
	return func(ctx context.Context, s *stage.Stage, moment string, want []string) error {
		if err := check(ctx, s, moment, want); err != nil {
			return err
		}
		out, err := s.Kubectl(ctx, "-n", s.Namespace, "get", "pods", "-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.nodeName} {.status.phase}{"\n"}{end}`)
		if err != nil {
			return err
		}
		pods, at := 0, map[string]string{} // of running pods, by node
		for line := range strings.Lines(out) {
			pod, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			node, phase, _ := strings.Cut(rest, " ")
			if pods++; pods > 20 {
				break
			}
			if phase == "Running" {
				at[node] = pod
			}
			if err := agrees(ctx, s, bin, state, pod, node, phase == "Running", settle); err != nil {
				return fmt.Errorf("%s: %w", moment, err)
			}
		}
		return follows(ctx, s, bin, state, at, settle)
	}
}

// follows asks explain for the way between pods of any two nodes: it breaks where check has found that a
// node does not reach others, and is whole where check has found nothing.
func follows(ctx context.Context, s *stage.Stage, bin, state string, at map[string]string, settle time.Duration) error {
	for from, a := range at {
		for to, b := range at {
			if from == to {
				continue
			}
			text, _, err := stage.Plumbline(ctx, s.Lab, bin, state, "explain", "pod", a, "-n", s.Namespace, "--to", b, "--settle="+settle.String())
			if err != nil {
				return err
			}
			if err := stage.Expect(len(s.Checked.Findings) > 0 || strings.Contains(text, "no break found"), "no break from %s to %s, got\n%s", a, b, text); err != nil {
				return err
			}
			for _, f := range s.Checked.Findings {
				if code, subject, _ := strings.Cut(f.Name, "/"); subject == from && slices.Contains([]string{"PL3007", "PL3008", "PL4008"}, code) {
					if err := stage.Expect(strings.Contains(text, "breaks at"), "a break from %s to %s, got\n%s", a, b, text); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func agrees(ctx context.Context, s *stage.Stage, bin, state, pod, node string, runs bool, settle time.Duration) error {
	args := []string{"explain", "pod", pod, "-n", s.Namespace, "--settle=" + settle.String()}
	doc, _, err := stage.Plumbline(ctx, s.Lab, bin, state, append(args, "-o", "json")...)
	if err != nil {
		return err
	}
	type found struct {
		Name     string
		Explains []string
	}
	var said struct{ Findings, Unconfirmed []found }
	if err := json.Unmarshal([]byte(doc), &said); err != nil {
		return fmt.Errorf("explain pod %s: %w: %.300s", pod, err, doc)
	}
	var names []string
	for _, f := range slices.Concat(said.Findings, said.Unconfirmed) {
		names = append(append(names, f.Name), f.Explains...)
	}
	var checked []string
	for _, f := range s.Checked.Findings {
		checked = append(append(checked, f.Name), f.Explains...)
	}
	for _, f := range said.Findings {
		if err := stage.Expect(slices.Contains(checked, f.Name), "explain pod %s not to say %s, which check does not: %q", pod, f.Name, checked); err != nil {
			return err
		}
	}
	concerned := false
	for _, f := range s.Checked.Findings {
		code, subject, _ := strings.Cut(f.Name, "/")
		if subject != s.Namespace+"/"+pod && (subject != node || code == "PL4007" && runs || code == "PL3009") { // what keeps others from starting, and how large others send, is not about it
			continue
		}
		concerned = true
		if err := stage.Expect(slices.Contains(names, f.Name), "explain pod %s to say %s, it says %q", pod, f.Name, names); err != nil {
			return err
		}
	}
	text, _, err := stage.Plumbline(ctx, s.Lab, bin, state, args...)
	if err != nil {
		return err
	}
	return stage.Expect(!concerned || !strings.Contains(text, "is consistent in"), "explain pod %s not to call it consistent:\n%s", pod, text)
}
