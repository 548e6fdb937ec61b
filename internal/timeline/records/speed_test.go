package records

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// recorded gives lines of several components, over and over, up to a size.
func recorded(t testing.TB, size int) []byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.log")
	if err != nil || len(names) == 0 {
		t.Fatal("no recorded logs", err)
	}
	var all []byte
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return bytes.Repeat(all, 1+size/len(all))
}

func BenchmarkAll(b *testing.B) {
	text := recorded(b, 32<<20)
	in := Input{Name: "recorded", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := All(context.Background(), []Input{in}, Options{Wants: func(*Record) bool { return false }}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestUnwantedLinesAllocateNothing(t *testing.T) {
	text := recorded(t, 1<<20)
	for _, more := range []string{
		`{"log":"I1115 10:31:56.650149      36 a.go:1] \u003cnil\u003e \"x\"\n","stream":"stderr","time":"2026-11-15T10:31:56.7Z"}`,
		`{"_HOSTNAME":"node1","__REALTIME_TIMESTAMP":"1794739916650149","_PID":"36","MESSAGE":"time=\"2026-11-15T10:31:56Z\" level=info msg=\"x\""}`,
		"Dec 12 20:21:27 n kubelet[1]: time=\"2017-12-12T20:21:27+08:00\" level=info msg=\"open [\n\tjoined]\"",
		"<30>1 2026-11-15T10:31:56.5+01:00 node1 containerd 77 - - x",
	} {
		text = append(text, more+"\n"...)
	}
	s := splitter{wants: func(*Record) bool { return false }, knows: func(*Record) bool { return true }}
	var out found
	s.split(text, 0, false, &out)
	if out.lines < 1000 {
		t.Fatal(out.lines)
	}
	if n := testing.AllocsPerRun(5, func() { s.split(text, 0, false, &out) }); n != 0 {
		t.Errorf("%v allocations in %d lines", n, out.lines)
	}
}
