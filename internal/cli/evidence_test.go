package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// What collect pod writes is read by both: check takes the tables, timeline the logs.
func TestEvidenceIsReadByBoth(t *testing.T) {
	t.Parallel()
	s, err := cluster.ReadBundle(bundle(t, "PL2001", nil))
	if err != nil {
		t.Fatal(err)
	}
	const recorded = "../timeline/testdata/recorded/late-del-kdd"
	var logs []snapshotio.File
	err = filepath.WalkDir(recorded, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		name, _ := filepath.Rel(recorded, p)
		if err != nil {
			return err
		}
		at, err := d.Info()
		logs = append(logs, snapshotio.File{Name: name, Modified: at.ModTime(), Text: b})
		return err
	})
	if err != nil || len(logs) == 0 {
		t.Fatal(err, len(logs))
	}
	file := filepath.Join(t.TempDir(), "evidence.tar.gz")
	if _, err := cluster.WriteBundle(file, s, logs...); err != nil {
		t.Fatal(err)
	}
	alone := run(t, 0, "timeline", "--logs", recorded)
	both := run(t, 0, "timeline", "--logs", file)
	if both.code != alone.code || !strings.Contains(both.out, "late DEL") {
		t.Errorf("timeline: exit %d instead of %d\n%s%s\n-- alone:\n%s", both.code, alone.code, both.out, both.err, alone.out)
	}
	if strings.Contains(both.out+both.err, ".jsonl") {
		t.Errorf("the tables are no logs:\n%s%s", both.out, both.err)
	}
	if r := run(t, 0, "check", "--bundle", file); r.code != 1 || !strings.Contains(r.out, "PL2001/") {
		t.Errorf("check: exit %d\n%s%s", r.code, r.out, r.err)
	}
}
