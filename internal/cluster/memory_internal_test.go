package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/internal/audit"
)

func TestMemoryOfAnotherVersionIsIgnored(t *testing.T) {
	t.Parallel()
	o := &Options{StateDir: t.TempDir()}
	dir := filepath.Join(o.StateDir, "plumbline", "g")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const finding = `"PL1001/10.0.0.1":{"digest":"x","facts":"x","first":"2026-01-01T00:00:00Z","last":"2026-01-01T00:00:00Z"}`
	write("seen.json", "{"+finding+"}")
	for _, text := range []string{"", "{", "{" + finding + "}", `{"findings":{` + finding + `}}`, `{"version":2,"findings":{` + finding + `}}`} {
		if text != "" {
			write("unconfirmed.json", text)
		}
		if m := o.recall("g"); len(m) != 0 {
			t.Errorf("%q: recalled %v", text, m)
		}
	}
	want := audit.Observation{Digest: "x", First: 1, Last: 2}
	if err := o.keep("g", audit.Memory{"PL1001/10.0.0.1": want}); err != nil {
		t.Fatal(err)
	}
	if m := o.recall("g"); len(m) != 1 || m["PL1001/10.0.0.1"] != want {
		t.Errorf("recalled %v", m)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}
