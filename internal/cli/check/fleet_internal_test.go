package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func found(context string, codes ...finding.Code) member {
	m := member{Context: context, server: "https://" + context, Totals: "made up"}
	m.Doc.Cluster.GUID = "guid of " + context
	for i, c := range codes {
		m.Doc.Findings = append(m.Doc.Findings, cluster.NamedFinding{Name: fmt.Sprintf("%s/%d", c, i), Finding: finding.Finding{Code: c, Severity: finding.Error, Summary: "<b>" + string(c)}})
	}
	if len(codes) > 0 {
		m.exit = term.ExitFindings
	}
	return m
}

// reportOfDemo is what check says of a recorded cluster.
func reportOfDemo(t *testing.T) cluster.CheckReport {
	t.Helper()
	r, err := (&term.Session{Bundle: "../demo/bundle.tar.gz"}).Check(t.Context(), audit.Options{Detectors: detect.All, Settle: time.Second}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return cluster.ReportOf(r)
}

func unread(context string) member {
	return member{Context: context, Err: errors.New("the API server does not answer")}
}

func TestFleetVerdict(t *testing.T) {
	t.Parallel()
	gaps := member{exit: term.ExitGaps}
	for name, c := range map[string]struct {
		all  []member
		want error
	}{
		"all clean":            {[]member{found("a"), found("b")}, nil},
		"one with findings":    {[]member{found("a"), found("b", "PL1001")}, term.ExitFindings},
		"one not read":         {[]member{found("a"), unread("b")}, term.ExitGaps},
		"not read comes first": {[]member{unread("b"), found("a")}, term.ExitGaps},
		"findings, not read":   {[]member{unread("b"), found("a", "PL1001")}, term.ExitFindings},
		"findings, then gaps":  {[]member{found("a", "PL1001"), gaps}, term.ExitFindings},
		"gaps of one":          {[]member{gaps, found("a")}, term.ExitGaps},
		"none read":            {[]member{unread("a"), unread("b")}, term.ExitUsage},
	} {
		if got := fleetVerdict(c.all); !errors.Is(got, c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestFleetShown(t *testing.T) {
	t.Parallel()
	twin := found("also-a", "PL1001", "PL1001", "PL2001", "PL2010") // may read more
	twin.server, twin.Doc.Cluster.GUID = "https://a", "guid of a"
	part := found("c")
	part.Gaps = []string{"Not checked: nodes: access denied", "Not checked: more"}
	part.server = "https://a" // a proxy in front of both
	all := []member{found("a", "PL1001", "PL1001", "PL2001"), twin, unread("b"), part}
	sameClusters(all)
	show := func(format string) string {
		var out bytes.Buffer
		sess := &term.Session{Env: term.Env{Stdout: &out, Columns: 80}, Program: "plumbline"}
		if err := showFleet(sess, all, flags{output: format}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	termtest.Conforms(t, "FleetReport", func(sess *term.Session) {
		whole := []member{unread("b"), {Context: "d", Doc: reportOfDemo(t)}}
		if err := showFleet(sess, whole, flags{output: "json"}); err != nil {
			t.Error(err)
		}
	})
	table := show("text")
	for _, want := range []string{
		"2 clusters checked, 1 NOT READ: 4 findings", "PL1001 (2), PL2001 (1)", "Not read: b: the API server does not answer",
		"Counted once: also-a is the cluster of a", "c: Not checked: nodes: access denied (and 1 more line)", "Next: plumbline check --context also-a",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	for line := range strings.Lines(table) {
		if utf8.RuneCountInString(line) > 81 {
			t.Errorf("longer than 80: %q", line)
		}
	}
	var doc FleetReport
	if err := json.Unmarshal([]byte(show("json")), &doc); err != nil || len(doc.Clusters) != 4 || doc.Clusters[2].Report != nil || doc.Clusters[2].Error == "" || doc.Clusters[1].SameAs != "a" || len(doc.Clusters[0].Report.Findings) != 3 {
		t.Errorf("%v: %+v", err, doc)
	}
	page := show("html")
	for _, want := range []string{"<h1>2 clusters checked, 1 NOT READ: 4 findings</h1>", "Not read: the API server does not answer", "&lt;b&gt;PL2001", `<a href="#c3">c</a>`, "<li>Not checked: nodes: access denied</li>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if none := fleetTotals([]member{unread("a"), unread("b")}); none != "0 clusters checked, 2 NOT READ" {
		t.Errorf("none was read: %s", none)
	}
	if strings.Contains(page, "<b>PL") {
		t.Error("markup reaches the page")
	}
}

// The etcd that the environment names is of one cluster; what is said names its cluster.
func TestFleetSession(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	env := map[string]string{"ETCD_ENDPOINTS": "https://etcd", "HOME": "/h"}
	sess := &term.Session{Env: term.Env{Stderr: &said, Getenv: func(k string) string { return env[k] }}}
	own := memberSession(sess, "prod\x1b", &fleetProgress{w: &said})
	if own.Getenv("ETCD_ENDPOINTS") != "" || own.Getenv("HOME") != "/h" || own.Cluster.Kube.Context != "prod\x1b" || sess.Cluster.Kube.Context != "" {
		t.Errorf("%+v", own.Cluster.Kube)
	}
	fmt.Fprintln(own.Stderr, "a\nb")
	if got := said.String(); got != "prod\\x1b: a\nprod\\x1b: b\n" {
		t.Errorf("%q", got)
	}
}

// What means one cluster is refused, each by its name.
func TestFleetOfOne(t *testing.T) {
	t.Parallel()
	for flag, change := range map[string]func(*term.Session, *flags){
		"--bundle":          func(s *term.Session, _ *flags) { s.Bundle = "x" },
		"--watch":           func(_ *term.Session, f *flags) { f.watch = true },
		"--against":         func(_ *term.Session, f *flags) { f.against = "x" },
		"--logs":            func(_ *term.Session, f *flags) { f.logs = []string{"x"} },
		"--from-controller": func(_ *term.Session, f *flags) { f.told = true },
		"--probe":           func(_ *term.Session, f *flags) { f.probe = true },
		"--all":             func(_ *term.Session, f *flags) { f.list = true },
		"--node":            func(_ *term.Session, f *flags) { f.node = "x" },
		"--context":         func(s *term.Session, _ *flags) { s.Cluster.Kube.Context = "x" },
		"--cluster":         func(s *term.Session, _ *flags) { s.Cluster.Kube.Overrides.Cluster = "x" },
		"--user":            func(s *term.Session, _ *flags) { s.Cluster.Kube.Overrides.User = "x" },
		"--server":          func(s *term.Session, _ *flags) { s.Cluster.Kube.Overrides.Server = "x" },
		"--token":           func(s *term.Session, _ *flags) { s.Cluster.Kube.Overrides.Token = "x" },
		"--etcd-endpoints":  func(s *term.Session, _ *flags) { s.Cluster.Etcd.Endpoints = []string{"x"} },
		"--etcd-cacert":     func(s *term.Session, _ *flags) { s.Cluster.Etcd.CACert = "x" },
		"--etcd-cert":       func(s *term.Session, _ *flags) { s.Cluster.Etcd.Cert = "x" },
		"--etcd-key":        func(s *term.Session, _ *flags) { s.Cluster.Etcd.Key = "x" },
		"-o sarif":          func(_ *term.Session, f *flags) { f.output = "sarif" },
	} {
		sess, f := &term.Session{}, flags{output: "text"}
		if err := f.oneOnly(sess); err != nil {
			t.Fatal(err)
		}
		change(sess, &f)
		if err := f.oneOnly(sess); err == nil || err.Error() != flag+": not with --contexts or --all-contexts" {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// Pages of one cluster and of several can be made in one process, in either order.
func TestBothPages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	sess := &term.Session{Env: term.Env{Stdout: &out}}
	r := &audit.Report{View: model.Seal(&model.Snapshot{})}
	for range 2 {
		if err := showHTML(sess, r); err != nil {
			t.Fatal(err)
		}
		if err := fleetHTML(sess, []member{found("a", "PL1001")}); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(out.String(), "default-src &#39;none&#39;") + strings.Count(out.String(), "default-src 'none'"); n != 4 {
		t.Errorf("%d pages have a policy", n)
	}
}
