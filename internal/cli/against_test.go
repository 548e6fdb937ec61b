package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// After a change of the cluster only what is new since then is shown, and what is gone.
func TestCheckAgainst(t *testing.T) {
	t.Parallel()
	before := bundle(t, "PL1006", nil)
	whole := run(t, 0, "check", "-o", "name", "--bundle", before)
	names := strings.Fields(whole.out)
	if whole.code != 1 || len(names) < 2 {
		t.Fatalf("exit %d: %s", whole.code, whole.out)
	}
	report := filepath.Join(t.TempDir(), "before.json")
	if err := os.WriteFile(report, []byte(run(t, 0, "check", "-o", "json", "--bundle", before).out), 0o600); err != nil {
		t.Fatal(err)
	}
	const added = "k8s-pod-network.00000000000000000000000000000000000000000000000000000000000000ff"
	after := bundle(t, "PL1006", func(s *model.Snapshot) {
		s.Handles = append(s.Handles, model.Handle{ID: added, Name: added, Blocks: s.Handles[0].Blocks, Written: s.Handles[0].Written, Revision: "9"})
	})
	for name, file := range map[string]string{"a report": report, "a bundle": before} {
		if r := run(t, 0, "check", "--against", file, "--bundle", before); r.code != 0 || !strings.Contains(r.out, ": 0 new, ") || !strings.Contains(r.out, "No new findings") {
			t.Errorf("nothing changed since %s: exit %d\n%s%s", name, r.code, r.out, r.err)
		}
		r := run(t, 0, "check", "--against", file, "--bundle", after)
		if r.code != 1 || !strings.Contains(r.out, ": 1 new, ") || !strings.Contains(r.out, "1 new finding (") || strings.Contains(r.out, names[0]) {
			t.Errorf("a handle is new since %s: exit %d\n%s%s", name, r.code, r.out, r.err)
		}
		if r := run(t, 0, "check", "--against", file, "--bundle", after, "-o", "name"); strings.TrimSpace(r.out) != "PL1006/"+added {
			t.Errorf("since %s: %s", name, r.out)
		}
		if r := run(t, 0, "check", "--against", file, "--bundle", after, "-o", "json"); r.code != 1 || !strings.Contains(r.out, `"against"`) || !strings.Contains(r.out, names[0]) {
			t.Errorf("since %s: exit %d", name, r.code)
		}
	}
	gone := run(t, 0, "check", "--against", after, "--bundle", before)
	if gone.code != 0 || !strings.Contains(gone.out, "1 gone") || !strings.Contains(gone.out, "Gone: PL1006/"+added) {
		t.Errorf("exit %d\n%s", gone.code, gone.out)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(`{"kind":"List"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{other, "/nonexistent", "/dev/null"} {
		if r := run(t, 0, "check", "--against", file, "--bundle", before); r.code != 2 || !strings.Contains(r.err, "--against: ") {
			t.Errorf("%s: exit %d, %s", file, r.code, r.err)
		}
	}
	for _, flag := range []string{"--code=PL1001", "--namespace=shop", "--node=n1"} {
		if r := run(t, 0, "check", "--against", report, flag, "--bundle", before); r.code != 2 || !strings.Contains(r.err, "compares the whole cluster") {
			t.Errorf("%s: exit %d, %s", flag, r.code, r.err)
		}
	}
	foreign := bundle(t, "PL1006", func(s *model.Snapshot) { s.Meta.GUID = "another" })
	if r := run(t, 0, "check", "--against", foreign, "--bundle", before); r.code != 2 || !strings.Contains(r.err, "another cluster") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	if r := run(t, 0, "check", "--against", report, "-o", "html", "--bundle", before); r.code != 2 {
		t.Errorf("exit %d", r.code)
	}
}
