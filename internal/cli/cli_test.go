package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

type result struct {
	out, err string
	code     int
}

func run(t *testing.T, columns int, args ...string) result {
	t.Helper()
	var out, diag bytes.Buffer
	home := t.TempDir()
	code := cli.Main(t.Context(), cli.Env{
		Args: append([]string{"plumbline"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &diag, Columns: columns,
		Getenv: func(k string) string { return map[string]string{"HOME": home}[k] },
	})
	return result{out.String(), diag.String(), code}
}

// bundle writes a fixture of a detector as the file that collect would have written.
func bundle(t *testing.T, name string, change func(*model.Snapshot)) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "detect", "testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := snapshotio.ParseText(text, "findings")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(c.Snapshot)
	}
	path := filepath.Join(t.TempDir(), "bundle.tar.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshotio.WriteBundle(f, c.Snapshot); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestScreens keeps what a person sees: at 80 columns no line is longer.
func TestScreens(t *testing.T) {
	t.Setenv("TZ", "UTC")
	for name, c := range map[string]struct {
		fixture string
		args    []string
		code    int
	}{
		"check":         {"PL1006", []string{"check"}, 1},
		"check-all":     {"PL1006", []string{"check", "--all"}, 1},
		"check-clean":   {"wolf/borrowed", []string{"check"}, 0},
		"check-leaks":   {"PL1001", []string{"check"}, 0},
		"check-shared":  {"PL2010", []string{"check"}, 1},
		"status":        {"PL1009", []string{"status"}, 0},
		"explain":       {"PL2010", []string{"explain", "PL2010/10.0.0.1"}, 0},
		"explain-block": {"PL1004", []string{"explain", "block", "10.0.0.0/29"}, 0},
		"explain-node":  {"PL1007", []string{"explain", "node", "n1"}, 0},
		"check-stuck":   {"PL4001", []string{"check"}, 1},
		"explain-stuck": {"PL4001", []string{"explain", "PL4001/shop/index-task"}, 0},
		"status-agents": {"PL9001", []string{"status"}, 0},
		"check-unseen":  {"PL9001", []string{"check"}, 3},
		"node-agent":    {"PL5003", []string{"explain", "node", "n1"}, 0},
		"name":          {"PL1007", []string{"check", "-o", "name"}, 1},
		"policy-only":   {"wolf/policy-only", []string{"check"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(t, 80, append(c.args, "--bundle", bundle(t, c.fixture, nil))...)
			if r.code != c.code || r.err != "" {
				t.Errorf("exit %d, %s", r.code, r.err)
			}
			for l := range strings.Lines(r.out) {
				if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > 80 && c.args[0] != "check" || n > 80 && !strings.HasPrefix(l, "Next") && name != "name" {
					t.Errorf("%d columns: %s", n, l)
				}
			}
			termtest.Screen(t, name, r.out)
		})
	}
}

// Names come from strangers: they reach neither terminal nor page as they are.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	const evil = "x\x1b[2J\x07</td><script>alert(1)</script>\u202e"
	path := bundle(t, "PL2010", func(s *model.Snapshot) {
		for i := range s.Pods {
			s.Pods[i].Name = evil + s.Pods[i].Name
		}
		s.Meta.GUID = evil
	})
	for _, format := range []string{"table", "wide", "name", "html", "json", "yaml"} {
		r := run(t, 0, "check", "--bundle", path, "-o", format)
		if r.code != 1 {
			t.Errorf("-o %s: exit %d, %s", format, r.code, r.err)
		}
		bad := "\x1b\x07\u202e"
		if format == "yaml" {
			bad = bad[:2] // it has no escape outside of quotes
		}
		if strings.ContainsAny(r.out+r.err, bad) {
			t.Errorf("-o %s: an escape reaches the terminal", format)
		}
		if format == "html" && (strings.Contains(r.out, "<script>alert") || !strings.Contains(r.out, "&lt;script&gt;alert")) {
			t.Errorf("-o %s: markup reaches the page", format)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	good := bundle(t, "wolf/borrowed", nil)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no such command":  {[]string{"chekc"}, "unknown command"},
		"no such code":     {[]string{"check", "--code", "PL0000", "--bundle", good}, "no such code"},
		"no such format":   {[]string{"check", "-o", "xml", "--bundle", good}, "want table"},
		"no such severity": {[]string{"check", "--fail-on", "bad", "--bundle", good}, "want info"},
		"no such file":     {[]string{"check", "--bundle", "/nonexistent"}, "no such file"},
		"not a bundle":     {[]string{"check", "--bundle", "cli_test.go"}, "not a bundle"},
		"no kubeconfig":    {[]string{"check", "--kubeconfig", "/nonexistent"}, "kubeconfig"},
		"no such finding":  {[]string{"explain", "PL1001/1.2.3.4", "--bundle", good}, "not present"},
		"not an address":   {[]string{"explain", "ip", "x"}, "ParseAddr"},
		"etcd without":     {[]string{"explain", "PL0001"}, "no code"},
		"labels, bundle":   {[]string{"check", "-l", "app=web", "--bundle", good}, "contains no labels"},
		"pod of a bundle":  {[]string{"explain", "pod", "db-0", "--bundle", good}, "read the cluster"},
		"ip of a bundle":   {[]string{"explain", "ip", "10.0.0.1", "--bundle", good}, "read the cluster"},
		"watch a bundle":   {[]string{"check", "-w", "--bundle", good}, "does not change"},
		"nowhere to save":  {[]string{"collect"}, "--save"},
		"no reason":        {[]string{"check", "--bundle", good, "--suppress", "testdata/no-reason.yaml"}, "reason"},
	} {
		if r := run(t, 0, c.args...); r.code != 2 || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit %d, %q", name, r.code, r.err)
		}
	}
}

// The error of a name that was changed names the new one.
func TestRenamedFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"plan --mass":            "removed: use --allow-mass-change",
		"plan --mass=true":       "removed: use --allow-mass-change",
		"check --require intent": "--require intent: renamed, use kubernetes",
		"check --require ledger": "--require ledger: renamed, use calico",
		"check --require fact":   "--require fact: renamed, use node",
	} {
		if r := run(t, 0, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%s: %d %s", args, r.code, r.err)
		}
	}
	if r := run(t, 0, "plan", "--help"); strings.Contains(r.out, "--mass ") {
		t.Errorf("help shows it: %s", r.out)
	}
}

func TestSuppressionFile(t *testing.T) {
	t.Parallel()
	r := run(t, 0, "check", "--bundle", bundle(t, "PL2010", nil), "--suppress", "testdata/known.yaml")
	if r.code != 1 || strings.Contains(r.out, "PL2010/10.0.0.1 ") || !strings.Contains(r.out, "1 suppressed") || !strings.Contains(r.out, "PL9004/PL1001/*") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	other := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(other, []byte("apiVersion: plumbline.dev/v9\nsuppressions: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, 0, "check", "--bundle", bundle(t, "PL2010", nil), "--suppress", other); r.code != 2 || !strings.Contains(r.err, `apiVersion "plumbline.dev/v9"`) {
		t.Errorf("another version: exit %d, %s", r.code, r.err)
	}
}

// The schema is made from the types; the file in docs is what was published.
func TestSchema(t *testing.T) {
	t.Parallel()
	published, err := os.ReadFile("../../docs/schema/checkreport.json")
	if err != nil {
		t.Fatal(err)
	}
	if r := run(t, 0, "schema"); r.out != string(published) {
		t.Errorf("make gen was not run:\n%s", r.out)
	}
	for _, f := range []string{"PL1006", "PL2010", "wolf/policy-only", "wolf/borrowed"} {
		var doc map[string]any
		if err := json.Unmarshal([]byte(run(t, 0, "check", "-o", "json", "--bundle", bundle(t, f, nil)).out), &doc); err != nil {
			t.Fatal(err)
		}
		conforms(t, f, cli.Schema(), doc)
	}
	var doc map[string]any
	_ = json.Unmarshal([]byte(run(t, 0, "check", "-o", "json", "--bundle", bundle(t, "PL1006", nil)).out), &doc)
	delete(doc, "findings")
	if conformsTo(cli.Schema(), doc) == nil {
		t.Error("a report without findings conforms")
	}
}

// All machine output says what it is.
func TestEveryDocumentHasAKind(t *testing.T) {
	t.Parallel()
	for args, kind := range map[string]string{
		"check": "CheckReport", "explain PL2010": "CodePage", "explain PL2010/10.0.0.1": "FindingExplanation",
		"explain block 10.0.0.0/29": "BlockExplanation", "explain node n1": "NodeExplanation",
	} {
		var doc struct{ APIVersion, Kind string }
		r := run(t, 0, append(strings.Fields(args), "-o", "json", "--bundle", bundle(t, "PL2010", nil))...)
		if err := json.Unmarshal([]byte(r.out), &doc); err != nil || doc.APIVersion != cluster.APIVersion || doc.Kind != kind {
			t.Errorf("%s: %+v, %v", args, doc, err)
		}
	}
}

func conforms(t *testing.T, name string, schema map[string]any, v any) {
	t.Helper()
	if err := conformsTo(schema, v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}
