package cli_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory of several nodes' logs says the same as an archive of it; as a stream it says less,
// and that something is missing.
func TestArchivesKnowTheirNodes(t *testing.T) {
	t.Parallel()
	const recorded = "../timeline/testdata/recorded"
	dirs, err := filepath.Glob(recorded + "/*-*")
	if err != nil || len(dirs) < 10 {
		t.Fatal(dirs, err)
	}
	for _, dir := range dirs {
		alone := verdictsOf(run(t, 0, "timeline", "--logs", dir).out)
		for kind, pack := range map[string]func(*testing.T, fs.FS) []byte{".tar.gz": packTar, ".zip": packZip} {
			file := filepath.Join(t.TempDir(), filepath.Base(dir)+kind)
			b := pack(t, os.DirFS(dir))
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := verdictsOf(run(t, 0, "timeline", "--logs", file).out); got != alone {
				t.Errorf("%s%s:\n%s\nthe directory:\n%s", dir, kind, got, alone)
			}
			r := runStdin(t, bytes.NewReader(b), 0, "timeline", "--logs", "-")
			if got := verdictsOf(r.out); r.code != 3 || !strings.Contains(r.out+r.err, "does not tell apart") || got != alone && len(got) > len(alone) {
				t.Errorf("%s%s as a stream: exit %d\n%s%s", dir, kind, r.code, r.out, r.err)
			}
		}
	}
}

// verdictsOf are the lines before the account of files.
func verdictsOf(out string) string {
	before, _, _ := strings.Cut(out, "(understood")
	before = strings.TrimRight(before, " \n")
	return before
}

func each(t *testing.T, from fs.FS, do func(name string, info fs.FileInfo, b []byte)) {
	t.Helper()
	err := fs.WalkDir(from, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := fs.ReadFile(from, p)
		do(p, info, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func packTar(t *testing.T, from fs.FS) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	each(t, from, func(name string, info fs.FileInfo, b []byte) {
		h := &tar.Header{Name: "var/" + name, Mode: 0o600, Size: int64(len(b)), ModTime: info.ModTime()}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(b)
	})
	_, _ = w.Close(), z.Close()
	return out.Bytes()
}

func packZip(t *testing.T, from fs.FS) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	each(t, from, func(name string, info fs.FileInfo, b []byte) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Modified: info.ModTime(), Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write(b)
	})
	_ = w.Close()
	return out.Bytes()
}
