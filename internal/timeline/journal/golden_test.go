package journal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// An exported is an entry as journalctl -o export shows it: its cursor, and NAME=VALUE of its
// fields, sorted.
type exported struct {
	cursor string
	fields []string
}

// readExport reads the journal export format.
func readExport(t testing.TB, b []byte) (out []exported) {
	t.Helper()
	var e exported
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		name, value, text := bytes.Cut(line, []byte("="))
		b = rest
		if len(line) == 0 {
			slices.Sort(e.fields)
			out = append(out, e)
			e = exported{}
			continue
		}
		if !text {
			n := binary.LittleEndian.Uint64(b)
			value, b = b[8:8+n], b[8+n+1:]
		}
		switch {
		case string(name) == "__CURSOR":
			e.cursor = string(value)
		case string(name) == "_BOOT_ID", strings.HasPrefix(string(name), "__"):
		default:
			e.fields = append(e.fields, string(name)+"="+string(value))
		}
	}
	return out
}

// asExported gives an entry as journalctl shows it.
func asExported(e *journal.Entry) exported {
	out := exported{cursor: fmt.Sprintf("s=%s;i=%x;b=%s;m=%x;t=%x;x=%x", e.File.SeqnumID, e.Seqnum, e.BootID, e.MonotonicUsec, e.RealtimeUsec, e.XorHash)}
	for _, f := range e.Fields {
		if f.Name != "_BOOT_ID" {
			out.fields = append(out.fields, f.Name+"="+string(f.Value))
		}
	}
	slices.Sort(out.fields)
	return out
}

// journals gives the files of a fixture, and golden what journalctl read in them.
func journals(t testing.TB, name string) (out [][]byte) {
	t.Helper()
	names, err := filepath.Glob("testdata/" + name + ".*.journal.zst")
	must(t, err)
	for _, n := range names {
		out = append(out, unpacked(t, n))
	}
	if len(out) == 0 {
		t.Fatalf("no fixture %s", name)
	}
	return out
}

func golden(t testing.TB, name string) []exported {
	t.Helper()
	return readExport(t, unpacked(t, "testdata/"+name+".export.zst"))
}

func unpacked(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	must(t, err)
	out, err := d.DecodeAll(b, nil)
	must(t, err)
	return out
}

func open(t testing.TB, b []byte) *journal.File {
	t.Helper()
	f, err := journal.Open(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	return f
}

// entries gives all entries that a query asks for, within a time that no fixture needs.
func entries(t testing.TB, q journal.Query, files ...*journal.File) iter.Seq[*journal.Entry] {
	t.Helper()
	return func(yield func(*journal.Entry) bool) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		r := journal.NewReader(q, files...)
		for {
			e, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			must(t, err)
			if !yield(e) {
				return
			}
		}
	}
}

func read(t testing.TB, q journal.Query, files ...*journal.File) (out []exported) {
	t.Helper()
	for e := range entries(t, q, files...) {
		out = append(out, asExported(e))
	}
	return out
}

func compareEntries(t *testing.T, got, want []exported) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i].cursor != want[i].cursor {
			t.Fatalf("entry %d is %s, want %s", i, got[i].cursor, want[i].cursor)
		}
		if !slices.Equal(got[i].fields, want[i].fields) {
			t.Fatalf("entry %d, %s:\n%.2000q, want\n%.2000q", i, got[i].cursor, got[i].fields, want[i].fields)
		}
	}
}

// Every entry and every field of what systemd wrote is as journalctl shows it.
func TestAsJournalctl(t *testing.T) {
	t.Parallel()
	for _, x := range fixtures {
		if *update {
			x.make(t)
		}
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			var files []*journal.File
			for _, b := range journals(t, x.name) {
				if flags := binary.LittleEndian.Uint32(b[12:]); flags != x.flags {
					t.Errorf("flags %#x, want %#x", flags, x.flags)
				}
				files = append(files, open(t, b))
			}
			want := golden(t, x.name)
			compareEntries(t, read(t, everything, files...), want)
			fields := 0
			for _, e := range want {
				fields += len(e.fields)
			}
			for i, f := range files {
				if d := f.Damage(); len(d) > 0 {
					t.Errorf("file %d is said to be damaged: %v", i, d)
				}
				t.Logf("%s: %s, keyed hash %v, compact %v", x.name, f.State, f.KeyedHash, f.Compact)
			}
			t.Logf("%d entries, %d fields compared", len(want), fields)
		})
	}
}

// everything asks for all fields in their full length.
var everything = journal.Query{MaxField: 2 << 20}
