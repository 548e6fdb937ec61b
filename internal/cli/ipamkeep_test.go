package cli_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

const firstKept = 1_800_000_000 // 2027-01-15T08:00:00Z

// A keptDir is a directory with backups.
type keptDir struct {
	*testing.T
	path string
}

// keep runs ipam backup --keep with records that a cluster has seconds after 08:00, at a revision.
func (d keptDir) keep(code int, guid string, seconds, revision int64, n int) result {
	d.Helper()
	s := &model.Snapshot{Meta: model.Meta{Schema: model.Schema, GUID: guid, Taken: model.At(time.Unix(firstKept+seconds, 0))}, Coverage: []model.Coverage{
		{Table: model.Blocks, State: model.Complete, Revision: strconv.FormatInt(revision, 10)}, {Table: model.Handles, State: model.Complete},
	}}
	file := filepath.Join(d.TempDir(), "records.tar.gz")
	f, err := os.Create(file)
	if err != nil {
		d.Fatal(err)
	}
	if err := snapshotio.WriteBundle(f, s); err != nil {
		d.Fatal(err)
	}
	if err := f.Close(); err != nil {
		d.Fatal(err)
	}
	r := run(d.T, 80, "ipam", "backup", "--bundle", file, "--save", d.path, "--keep", strconv.Itoa(n))
	if r.code != code {
		d.Fatalf("exit code %d, want %d\n%s%s", r.code, code, r.out, r.err)
	}
	return r
}

// has compares what is there. A file of a cluster at 08:00:SS is written as GUID SS.
func (d keptDir) has(want ...string) {
	d.Helper()
	var names []string
	all, err := os.ReadDir(d.path)
	if err != nil {
		d.Fatal(err)
	}
	for _, e := range all {
		name := e.Name()
		for _, guid := range []string{"g", "other"} {
			prefix := fmt.Sprintf("ipam-%.4x-20270115T0800", sha256.Sum256([]byte(guid)))
			name = strings.Replace(name, prefix, guid+" ", 1)
		}
		names = append(names, strings.Replace(name, "Z.tar.gz", "", 1))
	}
	slices.Sort(names)
	slices.Sort(want)
	if got := strings.Join(names, ", "); got != strings.Join(want, ", ") {
		d.Errorf("kept %s, want %s", got, strings.Join(want, ", "))
	}
}

// A directory keeps the newest of each cluster, and whatever else is in it.
func TestIPAMBackupsKept(t *testing.T) {
	t.Parallel()
	d := keptDir{t, t.TempDir()}
	d.keep(0, "g", 0, 100, 2)
	part := filepath.Join(d.path, fmt.Sprintf("ipam-%.4x-20270115T080001Z.tar.gz.part", sha256.Sum256([]byte("g"))))
	for _, file := range []string{part, part[:len(part)-len("01Z.tar.gz.part")] + "02Z.tar.gz.part", filepath.Join(d.path, "ipam-2026-11-17.tar.gz"), filepath.Join(d.path, "notes")} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(part, time.Time{}, time.Unix(1_500_000_000, 0)); err != nil {
		t.Fatal(err)
	}
	d.keep(0, "other", 3, 7, 1)
	for i := int64(10); i < 14; i++ {
		r := d.keep(0, "g", i, 100+i, 2)
		if want := i > 10; strings.Contains(r.out, "Deleted  1 older file") != want {
			t.Errorf("at %d:\n%s", i, r.out)
		}
	}
	d.has("g 12", "g 13", "g 02.part", "other 03", "ipam-2026-11-17.tar.gz", "notes")
	if r := d.keep(2, "g", 13, 200, 2); !strings.Contains(r.err, "exists") {
		t.Errorf("a file was replaced: %s", r.err)
	}
	if r := d.keep(2, "", 20, 200, 2); !strings.Contains(r.err, "GUID") {
		t.Errorf("a cluster without a name: %s", r.err)
	}
}

// What is written now is never removed for a file with a later name: a clock was ahead.
func TestIPAMBackupsOfALaterTime(t *testing.T) {
	t.Parallel()
	d := keptDir{t, t.TempDir()}
	d.keep(0, "g", 50, 100, 1)
	if r := d.keep(2, "g", 10, 101, 1); !strings.Contains(r.err, "of a later time") {
		t.Errorf("%s", r.err)
	}
	d.has("g 10", "g 50")
}

// The last file from before a restore stays, however many follow; and none is removed after one that cannot be read.
func TestIPAMBackupsBeforeARestore(t *testing.T) {
	t.Parallel()
	d := keptDir{t, t.TempDir()}
	d.keep(0, "g", 0, 1000, 2)
	d.keep(0, "g", 1, 2000, 2)
	if r := d.keep(0, "g", 2, 1500, 2); !strings.Contains(r.out, "Kept     ") || !strings.Contains(r.out, "before-restore-ipam-") {
		t.Errorf("%s", r.out)
	}
	for i := int64(3); i < 8; i++ {
		d.keep(0, "g", i, 1500+i, 2)
	}
	d.has("before-restore-g 01", "g 06", "g 07")
	torn := filepath.Join(d.path, fmt.Sprintf("ipam-%.4x-20270115T080008Z.tar.gz", sha256.Sum256([]byte("g"))))
	if err := os.WriteFile(torn, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := d.keep(2, "g", 9, 1600, 2); !strings.Contains(r.err, "none was removed") {
		t.Errorf("%s", r.err)
	}
	d.keep(0, "g", 10, 1601, 2)
	d.has("before-restore-g 01", "g 09", "g 10")
}

// A restore is also noticed by the run that finds the newest file torn, and by one that cannot write: later runs compare with
// what was written since.
func TestIPAMBackupsBeforeARestoreAndACrash(t *testing.T) {
	t.Parallel()
	torn := func(d keptDir, name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(d.path, fmt.Sprintf("ipam-%.4x-20270115T0800%s", sha256.Sum256([]byte("g")), name)), []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := keptDir{t, t.TempDir()}
	d.keep(0, "g", 0, 2000, 1)
	torn(d, "01Z.tar.gz")
	d.keep(2, "g", 2, 1500, 1)
	d.keep(0, "g", 3, 1501, 1)
	d.has("before-restore-g 00", "g 03")

	d = keptDir{t, t.TempDir()}
	d.keep(0, "g", 0, 2000, 1)
	torn(d, "01Z.tar.gz.part") // another run has begun the same file, and has not ended
	d.keep(2, "g", 1, 1500, 1)
	d.keep(0, "g", 2, 1501, 1)
	d.has("before-restore-g 00", "g 01.part", "g 02")
}
