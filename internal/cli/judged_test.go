package cli_test

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// A typo does not look healthy, and no findings say what was checked.
func TestCheckSaysWhatItJudged(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL9001", nil)
	for _, c := range []struct {
		args, out, err string
		code           int
	}{
		{"-n nosuchns", "", "error: -n nosuchns: no pod is in this namespace, so nothing was checked", 2},
		{"--node nosuchnode", "", "error: --node nosuchnode: no such node", 2},
		{"--code PL2010", "Checked: ", "", 0},
	} {
		r := run(t, 0, append([]string{"check", "--bundle", file}, strings.Fields(c.args)...)...)
		if r.code != c.code && c.code != 0 || !strings.Contains(r.out, c.out) || !strings.HasPrefix(r.err, c.err) {
			t.Errorf("check %s: exit %d\n%s%s", c.args, r.code, r.out, r.err)
		}
	}
}

// Unconfirmed findings are shown, and count if that is asked for.
func TestUnconfirmedAreShown(t *testing.T) {
	t.Parallel()
	file := bundle(t, "PL9003", func(s *model.Snapshot) {
		for i := range s.Nodes {
			s.Nodes[i].Ready, s.Nodes[i].Changed = i > 0, s.Meta.Taken-60
		}
	})
	args := []string{"check", "--bundle", file, "--code", "PL4009"}
	r := run(t, 0, args...)
	if r.code != 0 || !strings.Contains(r.out, "Unconfirmed:\nSEV") || !strings.Contains(r.out, "PL4009/n1") || !strings.Contains(r.out, "No findings; 1 unconfirmed") || !strings.Contains(r.out, "Checked: 2 pods, 2 nodes") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r = run(t, 0, append(args, "--fail-on-unconfirmed")...); r.code != 1 {
		t.Errorf("--fail-on-unconfirmed: exit %d\n%s%s", r.code, r.out, r.err)
	}
}
