package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

type result struct {
	out, err string
	code     int
}

func run(t *testing.T, columns int, args ...string) result {
	t.Helper()
	return runStdin(t, strings.NewReader(""), columns, args...)
}

func runStdin(t *testing.T, stdin io.Reader, columns int, args ...string) result {
	t.Helper()
	var out, diag bytes.Buffer
	home := t.TempDir()
	code := cli.Main(t.Context(), cli.Env{
		Args: append([]string{"plumbline"}, args...), Stdin: stdin, Stdout: &out, Stderr: &diag, Columns: columns,
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
			path := bundle(t, c.fixture, nil)
			r := run(t, 80, append(c.args, "--bundle", path)...)
			if r.code != c.code || r.err != "" {
				t.Errorf("exit %d, %s", r.code, r.err)
			}
			for l := range strings.Lines(r.out) {
				if n := utf8.RuneCountInString(strings.TrimRight(l, "\n")); n > 80 && !strings.HasPrefix(l, "Next") && name != "name" {
					t.Errorf("%d columns: %s", n, l)
				}
			}
			if next := next(r.out); next != nil {
				if r := run(t, 80, next...); r.code == 2 || r.out == "" {
					t.Errorf("%q: exit %d, %s", next, r.code, r.err)
				}
			}
			termtest.Screen(t, name, strings.ReplaceAll(r.out, path, "cluster.tar.gz"))
		})
	}
}

// next gives the arguments of the command that a screen says to run next; nil if it names none.
func next(screen string) []string {
	for l := range strings.Lines(screen) {
		if of, ok := strings.CutPrefix(l, "Next: plumbline "); ok {
			return strings.Fields(of)
		}
	}
	return nil
}

// Flags that mean nothing for a bundle, and arguments that name nothing, are refused in words.
func TestRefusedInWords(t *testing.T) {
	t.Parallel()
	good := bundle(t, "PL1001", nil)
	for line, says := range map[string]string{
		"chek":                            "\nDid you mean this?\n  check\n",
		"check --wait --bundle " + good:   "--wait: not with --bundle",
		"check --probe --bundle " + good:  "--probe: not with --bundle",
		"check -w --bundle " + good:       "--watch: not with --bundle",
		"check --quick --bundle " + good:  "--quick: not with --bundle",
		"check -l a=b --bundle " + good:   "--selector: not with --bundle",
		"history --bundle " + good:        "--bundle: not with history",
		"timeline pod a --bundle " + good: "--bundle: not with timeline",
		"explain pod":                     "explain pod: name one",
		"explain node":                    "explain node: name one",
		"explain pod a --bundle " + good:  "pod default/a is not in this bundle",
		"guard foo":                       "unknown command \"foo\" for \"plumbline guard\"",
	} {
		if r := run(t, 80, strings.Fields(line)...); r.code != 2 || !strings.Contains(r.err, says) || r.out != "" {
			t.Errorf("%s: exit %d, %q, %q", line, r.code, r.err, r.out)
		}
	}
}

// Next reads what the command before it read.
func TestNextIsForTheSameCluster(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := term.Session{Env: term.Env{Stdout: &out}, Program: "kubectl plumbline"}
	s.Cluster.Kube.Context, s.Cluster.Kube.Kubeconfig = "it's me", "/home/a/.kube/b.yaml"
	s.Next("check")
	if want := "Next: kubectl plumbline check --kubeconfig /home/a/.kube/b.yaml --context 'it'\\''s me'\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}

// The page has what the table has: findings by code, and the pattern of when they began.
func TestHTMLHasGroupsAndPattern(t *testing.T) {
	t.Parallel()
	r := run(t, 0, "check", "--bundle", bundle(t, "PL4001", nil), "-o", "html")
	if r.code != 1 || !strings.Contains(r.out, "<p>Pattern: 100% of these findings started around 2026-01-01 08:30-09:00 UTC</p>") ||
		strings.Count(r.out, "<section>") != 3 || !strings.Contains(r.out, "<h3>PL4001: ") {
		t.Errorf("exit %d, %s", r.code, r.out)
	}
}

// Rows of long names stay distinct on a narrow terminal.
func TestRowsStayDistinct(t *testing.T) {
	t.Parallel()
	const long = "a-deployment-with-a-name-as-long-as-those-that-operators-generate-5d9c7b8f6d-"
	path := bundle(t, "PL4001", func(s *model.Snapshot) {
		for i := range s.Pods {
			s.Pods[i].Name = long + s.Pods[i].Name
		}
	})
	r := run(t, 80, "check", "--all", "--bundle", path)
	seen := map[string]bool{}
	for l := range strings.Lines(r.out) {
		if !strings.Contains(l, "PL4001/") || strings.HasPrefix(l, "Next") {
			continue
		}
		if seen[l] || utf8.RuneCountInString(strings.TrimRight(l, "\n")) > 80 {
			t.Errorf("twice, or too long: %s", l)
		}
		seen[l] = true
	}
	if len(seen) < 5 {
		t.Errorf("%d rows:\n%s", len(seen), r.out)
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
	for _, format := range []string{"text", "wide", "name", "html", "json", "yaml", "jsonpath={.findings}", "go-template={{range .findings}}{{.summary}}{{end}}{{.cluster.guid}}"} {
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
		"no such format":   {[]string{"check", "-o", "xml", "--bundle", good}, "want text"},
		"no template":      {[]string{"check", "-o", "jsonpath=", "--bundle", good}, "a template belongs after jsonpath="},
		"a bad path":       {[]string{"check", "-o", "jsonpath={.a", "--bundle", good}, "unclosed action"},
		"a bad template":   {[]string{"check", "-o", "go-template={{.a", "--bundle", good}, "unclosed action"},
		"fleet, bundle":    {[]string{"check", "--all-contexts", "--bundle", good}, "--bundle: not with --contexts or --all-contexts"},
		"fleet, token":     {[]string{"check", "--contexts", "a,b", "--token", "x"}, "--token: not with"},
		"fleet, junit":     {[]string{"check", "--contexts", "a,b", "-o", "junit"}, "-o junit: not with"},
		"fleet of none":    {[]string{"check", "--all-contexts", "--kubeconfig", "/nonexistent"}, "no such file"},
		"fleet of nothing": {[]string{"check", "--contexts", "", "--kubeconfig", "testdata/contexts.yaml"}, "names no context"},
		"fleet, a typo":    {[]string{"check", "--contexts", "prd", "--kubeconfig", "testdata/contexts.yaml"}, "no such context"},
		"fleet, both":      {[]string{"check", "--contexts", "prod", "--all-contexts", "--kubeconfig", "testdata/contexts.yaml"}, "one of them"},
		"guard, -A":        {[]string{"guard", "status", "-A"}, "removed: use --all"},
		"no such severity": {[]string{"check", "--fail-on", "bad", "--bundle", good}, "want info"},
		"no such file":     {[]string{"check", "--bundle", "/nonexistent"}, "no such file"},
		"not a bundle":     {[]string{"check", "--bundle", "cli_test.go"}, "not a bundle"},
		"no kubeconfig":    {[]string{"check", "--kubeconfig", "/nonexistent"}, "kubeconfig"},
		"no such finding":  {[]string{"explain", "PL1001/1.2.3.4", "--bundle", good}, "not present"},
		"not an address":   {[]string{"explain", "ip", "x"}, "not an address"},
		"etcd without":     {[]string{"explain", "PL0001"}, "no code"},
		"labels, bundle":   {[]string{"check", "-l", "app=web", "--bundle", good}, "contains no labels"},
		"no pod of it":     {[]string{"explain", "pod", "db-0", "--bundle", good}, "is not in this bundle"},
		"ui for all":       {[]string{"ui", "--listen", "0.0.0.0:0"}, "this machine only"},
		"ui of a name":     {[]string{"ui", "--listen", "example.com:0"}, "this machine only"},
		"ui, account":      {[]string{"ui", "--account", "a/b"}, "only with --from-controller"},
		"ui, told, bundle": {[]string{"ui", "--from-controller", "--bundle", good}, "not with --bundle"},
		"ui, no bundle":    {[]string{"ui", "--bundle", "/nowhere"}, "no such file"},
		"drawn, no pod":    {[]string{"explain", "node", "n1", "-o", "svg", "--bundle", good}, "only of a pod"},
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

// The flags that kubectl has mean here what they mean there.
func TestConnectionFlags(t *testing.T) {
	t.Parallel()
	asked := make(chan *http.Request, 100)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer srv.Close()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"clusters":[{"name":"c","cluster":{"server":"https://elsewhere.invalid","insecure-skip-tls-verify":true}}],"users":[{"name":"u","user":{"token":"other"}}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run(t, 0, "check", "--kubeconfig", file, "--cluster", "c", "--user", "u", "--server", srv.URL, "--token", "tok", "--as", "jane", "--as-group", "ops,dev", "--request-timeout", "5")
	if r.code != 2 || strings.Contains(r.err, "tok") {
		t.Errorf("exit code %d: %s", r.code, r.err)
	}
	q := <-asked
	if q.Header.Get("Authorization") != "Bearer tok" || q.Header.Get("Impersonate-User") != "jane" || !slices.Equal(q.Header["Impersonate-Group"], []string{"ops", "dev"}) {
		t.Errorf("%v", q.Header)
	}
	for _, bad := range []string{"x", "-5", "5x"} {
		if r := run(t, 0, "check", "--request-timeout", bad); r.code != 2 || !strings.Contains(r.err, "not a duration") {
			t.Errorf("--request-timeout %s: %s", bad, r.err)
		}
	}
}
