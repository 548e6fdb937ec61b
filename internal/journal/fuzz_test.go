package journal

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"plumbline.dev/plumbline/internal/repair"
)

// readRecords reads a log as far as it is good.
func readRecords(log []byte) (es []repair.Entry, good int64, err error) {
	r := newReader(bytes.NewReader(log), int64(len(log)))
	if _, err = r.head(); err == nil {
		es, err = r.entries()
	}
	return es, r.at, err
}

func FuzzLog(f *testing.F) {
	_, h, err := encodePlan(aPlan("a"))
	if err != nil {
		f.Fatal(err)
	}
	log, _, err := frame(0, h)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Clone(log))
	for i, e := range someEntries(5) {
		record, _, err := entryRecord(uint32(i)+1, &e)
		if err != nil {
			f.Fatal(err)
		}
		log = append(log, record...)
		f.Add(bytes.Clone(log))
	}
	f.Add(log[:len(log)-7])
	f.Add(append(bytes.Clone(log), make([]byte, 700)...))
	f.Add([]byte("\x1e00000000 ffffffff 00000000 "))
	next, _, err := entryRecord(6, &repair.Entry{Outcome: repair.Done})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		es, good, err := readRecords(in)
		if good > int64(len(in)) {
			t.Fatalf("%d of %d bytes are good", good, len(in))
		}
		if errors.Is(err, errTorn) { // what is cut must leave a whole log with the same entries
			again, _, err := readRecords(in[:good])
			if err != nil || !reflect.DeepEqual(again, es) {
				t.Fatalf("cut: %v, %d entries, not %d", err, len(again), len(es))
			}
		}
		// Whatever is put before or after a good log, its entries stay what they are.
		es, _, _ = readRecords(append(bytes.Clone(log), in...))
		if len(es) < 5 || !reflect.DeepEqual(es[:5], someEntries(5)) {
			t.Fatalf("%d entries", len(es))
		}
		// And what a later record follows is never cut.
		if _, _, err := readRecords(bytes.Join([][]byte{log, in, next}, nil)); len(in) > 0 && errors.Is(err, errTorn) {
			t.Fatal("records were given up though others follow")
		}
	})
}

func FuzzChunks(f *testing.F) {
	j, err := restore(f.TempDir(), guid, aPlan("a"), someEntries(3))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = j.Close() })
	chunks, err := Chunks(j)
	if err != nil {
		f.Fatal(err)
	}
	body := chunks[0][chunkHead:]
	f.Add(chunks[0], body)
	f.Add(chunks[0][:100], body[:300])
	f.Fuzz(func(t *testing.T, a, body []byte) {
		_, _, _ = FromChunks([][]byte{a})
		if len(body) > chunkBody || len(body) == 0 {
			return
		}
		// A stranger can make a checksum too.
		forged := append(chunkLine(0, 1, j.head.SHA256, body), body...)
		plan, es, err := FromChunks([][]byte{forged})
		if plan != nil && !reflect.DeepEqual(plan, aPlan("a")) {
			t.Fatal("another plan under the same digest")
		}
		if err == nil && plan == nil || plan == nil && len(es) > 0 {
			t.Fatal("entries without a plan")
		}
	})
}
