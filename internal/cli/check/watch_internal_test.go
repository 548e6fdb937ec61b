package check

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A watch shows what is there at first, then what comes and what goes; with -v unconfirmed
// findings as well.
func TestWatchShowsChanges(t *testing.T) {
	t.Parallel()
	var out, diagnostics bytes.Buffer
	sess := &term.Session{Env: term.Env{Stdout: &out, Stderr: &diagnostics, Columns: 80}, Verbose: true}
	p := &printed{sess: sess, first: true}
	pass := func(confirmed, unconfirmed []finding.Finding) {
		v := model.Seal(&model.Snapshot{})
		w := cluster.Pass{Report: &audit.Report{View: v, Taken: 1_800_000_000, Findings: confirmed, Unconfirmed: unconfirmed}, Changed: time.Now()} //nolint:forbidigo // what -v counts from
		p.unconfirmedLines(w)
		p.changes(w.Report)
	}
	leak := []finding.Finding{{Code: "PL1001", Severity: finding.Warning, Subject: model.Ref{Name: "10.0.0.1"}, Summary: "nobody uses it"}}
	pass(nil, nil)
	if s := out.String(); !strings.Contains(s, "No findings") {
		t.Errorf("at first:\n%s", s)
	}
	pass(nil, leak)
	if s := diagnostics.String(); !strings.Contains(s, "unconfirmed PL1001/10.0.0.1") || !strings.Contains(s, "ms after the first change") {
		t.Errorf("unconfirmed:\n%s", s)
	}
	out.Reset()
	pass(leak, nil)
	if s := out.String(); !strings.HasPrefix(s, "+ ") || !strings.Contains(s, "PL1001/10.0.0.1") || strings.Count(s, "\n") != 1 {
		t.Errorf("confirmed:\n%s", s)
	}
	out.Reset()
	pass(leak, nil)
	if s := out.String(); s != "" {
		t.Errorf("nothing is new:\n%s", s)
	}
	pass(nil, nil)
	if s := out.String(); !strings.HasPrefix(s, "- ") || !strings.Contains(diagnostics.String(), "cleared PL1001/10.0.0.1") {
		t.Errorf("gone:\n%s\n%s", s, diagnostics.String())
	}
}

// A cluster that was never reached is not waited for: rather it is the wrong one.
func TestWatchEndsWhereNothingIs(t *testing.T) {
	t.Parallel()
	out := &bytes.Buffer{}
	sess := &term.Session{Env: term.Env{Stdout: out, Stderr: out, Getenv: func(string) string { return "" }}}
	sess.Cluster.Kube.Kubeconfig = filepath.Join(t.TempDir(), "none")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, quick := range []bool{false, true} {
		sess.Cluster.Quick = quick
		if err := watch(ctx, sess, flags{}, audit.Options{}); err == nil || ctx.Err() != nil {
			t.Errorf("quick %v: ended with %v", quick, err)
		}
	}
	if err := watch(ctx, sess, flags{output: "json"}, audit.Options{}); err == nil || !strings.Contains(err.Error(), "-o json") {
		t.Errorf("-o json: %v", err)
	}
	sess.Bundle = "file"
	if err := watch(ctx, sess, flags{}, audit.Options{}); err == nil || !strings.Contains(err.Error(), "--bundle") {
		t.Errorf("--bundle: %v", err)
	}
}
