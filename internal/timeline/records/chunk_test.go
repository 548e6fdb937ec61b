package records

import (
	"bytes"
	"context"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/timeline"
)

// partial are lines that a container runtime has cut.
const partial = "2026-11-15T10:31:56.65Z stderr P I1115 10:31:56.650149      36 a.go:1] \"one\n" +
	"2026-11-15T10:31:56.65Z stderr P  two\n2026-11-15T10:31:56.65Z stderr F  three\" x=1\n" +
	"2026-11-15T10:31:56.65Z stdout P another\n2026-11-15T10:31:56.65Z stderr F stream\n"

// wrapped is a text in which every reason to join and not to join occurs, with enough
// lines that go on for the bounds of joining to be met.
func wrapped(t testing.TB) string {
	t.Helper()
	seed, err := os.ReadFile("testdata/seeds/001.txt")
	if err != nil {
		t.Fatal(err)
	}
	head := "\tDec 13 10:28:09 n kubelet[1]: time=\"2017-12-13T10:28:09+08:00\" level=info msg=\"open ["
	return string(seed) + head + "\n" + strings.Repeat("\tgoes on\n", maxWrapped+9) +
		head + "\n\t" + strings.Repeat("x", 5000) + "\n\n\tgoes on\n" + head + "]\"\n\tplain\n```\r\n\r\n   \n" + head + "\n...\n\tplain\n" +
		"I1115 10:31:56.650149      36 a.go:1] x\n  deeper\n  deeper still\nplain {\n}\n" +
		"{\"ts\":1,\"x\":[\n1]}\n" + partial + partial + head + "\n  \ttail without an end"
}

// Wherever chunks end, the records are the same.
func TestChunksOfAnySize(t *testing.T) {
	t.Parallel()
	text := wrapped(t)
	files, want := records(t, chunkSize, Options{}, file("x", text))
	longest := 0
	for _, r := range want[0] {
		longest = max(longest, strings.Count(r.Raw, "goes on"))
	}
	if longest != maxWrapped-1 {
		t.Fatalf("%d lines were joined to one", longest)
	}
	sizes := []int{}
	for size := 1; size < len(text); size += 1 + size/40 {
		sizes = append(sizes, size)
	}
	for _, size := range sizes {
		again, got := records(t, size, Options{Workers: 1 + size%3}, file("x", text))
		if again[0].Lines != files[0].Lines || len(got[0]) != len(want[0]) {
			t.Fatalf("chunks of %d: %d lines in %d records, want %d in %d", size, again[0].Lines, len(got[0]), files[0].Lines, len(want[0]))
		}
		for i := range want[0] {
			if !same(got[0][i], want[0][i]) {
				t.Fatalf("chunks of %d: record %d is\n%+v, want\n%+v", size, i, got[0][i], want[0][i])
			}
		}
	}
}

// repeatedByte reads a number of equal bytes, then the bytes of then.
type repeatedByte struct {
	n    int
	then *strings.Reader
}

func (e *repeatedByte) Read(b []byte) (int, error) {
	if e.n == 0 {
		return e.then.Read(b)
	}
	n := min(len(b), e.n)
	for i := range b[:n] {
		b[i] = 'x'
	}
	e.n -= n
	return n, nil
}

func (e *repeatedByte) Close() error { return nil }

func TestLineOf100MB(t *testing.T) {
	const size = 100 << 20
	in := Input{Name: "long", Open: func() (io.ReadCloser, error) {
		return &repeatedByte{size, strings.NewReader("yy\nI1115 10:31:56.650149      36 a.go:1] after it\n")}, nil
	}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	files, got := records(t, chunkSize, Options{}, in)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 24<<20 {
		t.Errorf("%d MiB allocated", used>>20)
	}
	if len(got[0]) != 2 || len(got[0][0].Raw) != maxLine || got[0][1].Text != "after it" || got[0][1].Place.Line != 2 {
		t.Fatalf("%d records, the last %+v", len(got[0]), got[0][len(got[0])-1])
	}
	if f := files[0]; f.Lines != 2 || len(f.Left) != 1 || f.Left[0] != "the part of lines beyond 256 KiB: 104595458 bytes in 1 lines" {
		t.Errorf("%+v", f)
	}
}

func TestJunkDoesNoHarm(t *testing.T) {
	t.Parallel()
	junk := make([]byte, 3<<20)
	for i, x := 0, uint32(1); i < len(junk); i++ {
		x = x*1664525 + 1013904223
		junk[i] = byte(x >> 24)
	}
	text := "Dec 13 10:28:09 n kubelet[1]: \x1b[31mred <script>\n" + string(bytes.ReplaceAll(junk, []byte{0}, nil)) + "\nDec 13 10:28:09 n kubelet[1]: the end\n"
	_, got := records(t, chunkSize, Options{}, file("junk", text))
	if r := got[0][len(got[0])-1]; r.Text != "the end" {
		t.Errorf("%+v", r)
	}
	files, got := records(t, chunkSize, Options{}, file("binary", "x\x00y\n"), file("journal", "LPKSHHRH\x00"), file("zst", "\x28\xb5\x2f\xfdxxxxx"), file("empty", ""))
	for i, want := range []string{errBinary.Error(), "not read: journal header", "not read"} {
		if len(got[i]) != 0 || len(files[i].Left) != 1 || !strings.Contains(files[i].Left[0], want) {
			t.Errorf("%+v", files[i])
		}
	}
	if len(files[3].Left) != 0 {
		t.Errorf("%+v", files[3])
	}
}

func TestReadingEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	never, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() {
		_, _ = w.Write(bytes.Repeat([]byte("I1115 10:31:56.650149      36 a.go:1] x\n"), 20000))
		cancel()
	}()
	if _, err := All(ctx, []Input{Stream("-", never), file("x", "y")}, Options{}); err == nil {
		t.Error("a cancelled reading went well")
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("I1115 10:31:56.650149      36 a.go:1] x\n", 50000)
	files, got := records(t, chunkSize, Options{}, Stream("-", strings.NewReader(text)))
	if len(got[0]) != 50000 || files[0].Bytes != int64(len(text)) || files[0].Left != nil {
		t.Errorf("%d records, %+v", len(got[0]), files[0])
	}
}

// A read error of one file does not affect the others.
func TestErrorsStayWithTheirFile(t *testing.T) {
	t.Parallel()
	in := make([]Input, 0, 40)
	for range 20 {
		in = append(in, file("good", "I1115 10:31:56.650149      36 a.go:1] x\n"),
			Input{Name: "bad", Open: func() (io.ReadCloser, error) { return nil, os.ErrPermission }})
	}
	files, got := records(t, chunkSize, Options{}, in...)
	for i := range files {
		if bad := i%2 == 1; bad != (len(files[i].Left) == 1) || bad != (len(got[i]) == 0) {
			t.Errorf("%d: %+v, %d records", i, files[i], len(got[i]))
		}
	}
	_, err := All(context.Background(), make([]Input, 70000), Options{Parser: func(uint16, *timeline.File) func(*Record) { return nil }})
	if err == nil {
		t.Error("70000 files were accepted, although their numbers have 16 bits")
	}
}
