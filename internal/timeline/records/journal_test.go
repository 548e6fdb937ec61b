package records

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// systemd gives a file that systemd wrote, or what journalctl reads in it.
func systemd(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../journal/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if b, err = d.DecodeAll(b, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func sameEntries(t *testing.T, name string, got, want []copied) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d records, want %d", name, len(got), len(want))
	}
	for i := range want {
		got[i].Place = want[i].Place
		if !same(got[i], want[i]) {
			t.Fatalf("%s: record %d is\n%+v, want\n%+v", name, i, got[i], want[i])
		}
	}
}

// A journal file gives the records that journalctl -o export of it gives: as a file, in a directory
// with rotated ones, compressed, and in an archive.
func TestJournalFiles(t *testing.T) {
	t.Parallel()
	_, want := records(t, chunkSize, Options{}, file("export", string(systemd(t, "rotated.export.zst"))))
	dir := t.TempDir()
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, from := range map[string]string{
		"system.journal": "rotated.0.journal.zst",
		"system@3e9a0b6c5d1f4f7f8a2b1c0d9e8f7a6b-0000000000000001-000651f3a2b1c0d9.journal": "rotated.1.journal.zst",
		"user-1000.journal": "writers.0.journal.zst",
	} {
		b := systemd(t, from)
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(b)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	in, err := Walk(os.DirFS(dir), ".")
	if err != nil || len(in) != 2 || !strings.HasPrefix(in[0].Name, "system@") {
		t.Fatalf("%+v, %v", in, err)
	}
	files, got := records(t, chunkSize, Options{}, in...)
	sameEntries(t, "directory", slices.Concat(got...), want[0])
	last := got[1][len(got[1])-1]
	if f := files[1]; f.Left != nil || f.Guessed != nil || last.Node != "w17" || !f.Ends.Equal(last.At) || last.Place.Line != f.Lines || f.Lines == 0 {
		t.Errorf("%+v, the last record %+v", f, last)
	}
	files, got = records(t, chunkSize, Options{}, file("a.tar", archive.String()))
	for i, f := range files {
		if f.Name == "a.tar:system.journal" {
			sameEntries(t, f.Name, got[i], want[0][len(want[0])-len(got[i]):])
		}
	}
	if len(files) != 4 {
		t.Errorf("%+v", files)
	}
}

// What is missing in a journal file is reported.
func TestDamagedJournalFile(t *testing.T) {
	t.Parallel()
	whole := string(systemd(t, "lz4.0.journal.zst"))
	_, want := records(t, chunkSize, Options{}, file("export", string(systemd(t, "lz4.export.zst"))))
	half := whole[:(strings.Index(whole, "MESSAGE=")+strings.LastIndex(whole, "MESSAGE="))/2]
	files, got := records(t, chunkSize, Options{}, file("half", half), file("whole", whole))
	sameEntries(t, "half", got[0], want[0][:len(got[0])])
	sameEntries(t, "whole", got[1], want[0])
	if len(got[0]) == 0 || !strings.HasPrefix(strings.Join(files[0].Left, "\n"), "bytes missing at the end of the file: ") || files[1].Left != nil {
		t.Errorf("%d records, %q, %q", len(got[0]), files[0].Left, files[1].Left)
	}
}
