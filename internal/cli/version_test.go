package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/cli"
	"plumbline.dev/plumbline/internal/cli/term/termtest"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	if r := run(t, 80, "version"); r.code != 0 || strings.Contains(r.out, "(devel)") || !strings.HasPrefix(r.out, "plumbline ") {
		t.Errorf("exit %d, %s", r.code, r.out)
	}
	if r := run(t, 80, "--version"); r.code != 0 || !strings.HasPrefix(r.out, "plumbline version ") || r.err != "" {
		t.Errorf("exit %d, %s%s", r.code, r.out, r.err)
	}
}

// The document names the commit and its time, where the build knows them.
func TestVersionDocument(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(cli.VersionOf(buildinfo.Info{Version: "v1.2.3", Commit: "0a1b", Date: "2026-01-02T03:04:05Z", Modified: true}))
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := termtest.Decoded(t, b).(map[string]any)
	for field, want := range map[string]any{"kind": "Version", "version": "v1.2.3", "commit": "0a1b", "date": "2026-01-02T03:04:05Z", "modified": true} {
		if doc[field] != want {
			t.Errorf("%s: %v, want %v", field, doc[field], want)
		}
	}
	if err := termtest.ConformsTo(termtest.Schema(t, "Version"), doc); err != nil {
		t.Error(err)
	}
	if bare, err := json.Marshal(cli.VersionOf(buildinfo.Info{Version: "v1.2.3"})); err != nil || strings.Contains(string(bare), `"commit"`) {
		t.Errorf("%v: a commit that is not known: %s", err, bare)
	}
}
