package internal_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// Parts of a page that are made stand between two comments; the rest is written by hand.
var madePart = regexp.MustCompile(`(?s)(<!-- made: (.*?) -->\n).*?(<!-- end -->\n)`)

// withMadeParts is a page with its parts made anew.
func withMadeParts(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	makers := map[string]func(*testing.T) string{
		"exit codes": exitCodes, "alerts": alerts, "cronjob": cronJob,
		"metrics of the controller": func(t *testing.T) string { return metricsOf(t, "controller") },
		"metrics of agents":         func(t *testing.T) string { return metricsOf(t, "agent/server") },
	}
	n := 0
	out := madePart.ReplaceAllStringFunc(string(page), func(part string) string {
		m := madePart.FindStringSubmatch(part)
		n++
		if makers[m[2]] == nil {
			t.Fatalf("docs/%s: nobody makes %q", name, m[2])
		}
		return m[1] + makers[m[2]](t) + m[3]
	})
	if n == 0 {
		t.Errorf("docs/%s has no part that is made", name)
	}
	return out
}

var (
	exitCode = regexp.MustCompile(`(?s)Exit codes?: (.*?)\.\n`)
	oneCode  = regexp.MustCompile(`(?:^|[;,] )([0-9]) `)
)

// exitCodes are those that the help of a command names; docs/cli.md has it.
func exitCodes(t *testing.T) string {
	t.Helper()
	cli, err := os.ReadFile("../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("| command | 0 | 1 | 2 | 3 | 4 |\n|---|---|---|---|---|---|\n")
	for part := range strings.SplitSeq(string(cli), "\n## plumbline ") {
		command, text, _ := strings.Cut(part, "\n")
		m := exitCode.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		said := strings.Join(strings.Fields(m[1]), " ")
		row := make([]string, 5)
		at := oneCode.FindAllStringSubmatchIndex(said, -1)
		for i, x := range at {
			end := len(said)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			row[said[x[2]]-'0'] = said[x[1]:end]
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", command, strings.Join(row, " | "))
	}
	return b.String()
}

// cronJob is the manifest, as it can be pasted.
func cronJob(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../deploy/cronjob.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return "```yaml\n" + string(text) + "```\n"
}

// alerts are those of the chart; the comment above one says when it fires.
func alerts(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../charts/plumbline/files/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert       string
				Labels      struct{ Severity string }
				Annotations struct {
					Runbook string `json:"runbook_url"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &rules); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	b.WriteString("| alert | severity | when |\n|---|---|---|\n")
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			m := regexp.MustCompile(`# (.*)\n *- alert: ` + r.Alert + `\n`).FindSubmatch(text)
			if m == nil || r.Annotations.Runbook == "" {
				t.Fatalf("rules.yaml: %s: no comment above it that says when, or no runbook_url", r.Alert)
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", r.Alert, r.Labels.Severity, m[1])
		}
	}
	return b.String()
}
