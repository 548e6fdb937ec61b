package journal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

// FuzzRead: whatever a file contains, reading ends, in a time that its size bounds, and gives
// entries in the order of their offsets. The file is one of the fixtures, cut at the end and with
// bytes changed; edits are an offset and the bytes to write there.
func FuzzRead(f *testing.F) {
	var files [][]byte
	for _, x := range fixtures {
		if !x.rotate {
			files = append(files, shrunk(f, journals(f, x.name)[0]))
		}
	}
	for i := range files {
		f.Add(uint8(i), uint16(0), []byte{})
		f.Add(uint8(i), uint16(5000), []byte{})
		for _, at := range []uint16{12, 88, 104, 136, 152, 176} { // fields of the header
			f.Add(uint8(i), uint16(0), binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(nil, at), 1<<40))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, cut uint16, edits []byte) {
		b := bytes.Clone(files[int(which)%len(files)])
		b = b[:len(b)-min(int(cut), len(b)-300)]
		for ; len(edits) > 2; edits = edits[min(len(edits), 10):] {
			at := int(binary.LittleEndian.Uint16(edits)) % len(b)
			copy(b[at:], edits[2:min(len(edits), 10)])
		}
		for _, q := range []journal.Query{
			{MaxField: 4096},
			{Fields: []string{"MESSAGE"}, Match: []string{"_SYSTEMD_UNIT=kubelet.service", "TAG=two"}, Since: time.UnixMicro(1_794_736_588_000_000), MaxField: 64},
		} {
			file, err := journal.Open(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				return
			}
			readFuzzed(t, q, file)
		}
	})
}

func readFuzzed(t *testing.T, q journal.Query, f *journal.File) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r := journal.NewReader(q, f)
	for last := int64(0); ; {
		e, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Offset <= last {
			t.Fatalf("the entry at %d follows that at %d", e.Offset, last)
		}
		last = e.Offset
	}
	for _, d := range f.Damage() {
		if d.Count <= 0 || d.First > d.Last {
			t.Fatalf("%+v", d)
		}
	}
}
