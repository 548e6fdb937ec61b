package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// ends gives where each record of a log ends; the first is the head's.
func ends(t *testing.T, log []byte) []int {
	t.Helper()
	r := newReader(bytes.NewReader(log), int64(len(log)))
	var out []int
	for {
		if _, err := r.next(); err != nil {
			break
		}
		out = append(out, int(r.at))
	}
	if len(out) == 0 || out[len(out)-1] != len(log) {
		t.Fatalf("a log of %d bytes has records until %v", len(log), out)
	}
	return out
}

func readLog(t *testing.T, dir string) []byte {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(dir, logFile))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func writeLog(t *testing.T, dir string, log []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, logFile), log, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	es := someEntries(6)
	dir := kept(t, state, "a", es...)
	log := readLog(t, dir)
	at := ends(t, log)
	for cut := range len(log) {
		writeLog(t, dir, log[:cut])
		j, err := Open(state, guid, "a")
		if cut < at[0] { // no crash leaves this: the directory has its name only afterwards
			if !errors.Is(err, errDamaged) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		n := 0
		for n+1 < len(at) && at[n+1] <= cut {
			n++
		}
		if got := j.Entries(); len(got) != n || n > 0 && !reflect.DeepEqual(got, es[:n]) {
			t.Fatalf("cut at %d: %d entries, not %d", cut, len(got), n)
		}
		if j.Torn() != int64(cut-at[n]) {
			t.Fatalf("cut at %d: it says that %d bytes were torn", cut, j.Torn())
		}
		if err := errors.Join(j.Append(es[5]), j.Close()); err != nil {
			t.Fatal(err)
		}
		plan, got, err := Read(state, guid, "a")
		if err != nil || plan == nil || len(got) != n+1 || !reflect.DeepEqual(got[n], es[5]) {
			t.Fatalf("cut at %d, gone on: %d entries, %v", cut, len(got), err)
		}
	}
}

func TestFlipEveryByte(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	es := someEntries(4)
	dir := kept(t, state, "a", es...)
	log := readLog(t, dir)
	at := ends(t, log)
	for i := range log {
		for _, mask := range []byte{0x01, 0x20, 0xff} {
			bad := bytes.Clone(log)
			bad[i] ^= mask
			writeLog(t, dir, bad)
			if _, err := Open(state, guid, "a"); !errors.Is(err, errDamaged) {
				t.Fatalf("byte %d ^ %02x: %v", i, mask, err)
			}
			if now := readLog(t, dir); !bytes.Equal(now, bad) {
				t.Fatalf("byte %d ^ %02x: a damaged log was changed", i, mask)
			}
			_, got, _ := Read(state, guid, "a")
			n := 0
			for n+1 < len(at) && at[n+1] <= i {
				n++
			}
			if i < at[0] {
				n = 0
			}
			if len(got) != n || n > 0 && !reflect.DeepEqual(got, es[:n]) {
				t.Fatalf("byte %d ^ %02x: %d entries, not %d", i, mask, len(got), n)
			}
		}
	}
	writeLog(t, dir, log)
	path := filepath.Join(dir, planFile)
	plan, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan {
		bad := bytes.Clone(plan)
		bad[i] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(state, guid, "a"); !errors.Is(err, errDamaged) {
			t.Fatalf("byte %d of the plan: %v", i, err)
		}
	}
}

// A crash of the machine leaves sectors unwritten, in any order.
func TestSectorsThatWereNotWritten(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	es := someEntries(3)
	es[0].Was = json.RawMessage(`"` + strings.Repeat("x", 3*sector) + `"`)
	es[2].Was = es[0].Was
	dir := kept(t, state, "a", es...)
	log := readLog(t, dir)
	at := ends(t, log)
	begin := at[len(at)-2]
	first := begin / sector
	count := (len(log)-1)/sector - first + 1
	for lost := 1; lost < 1<<count; lost++ {
		torn := bytes.Clone(log)
		for i := begin; i < len(torn); i++ {
			if lost&(1<<(i/sector-first)) != 0 {
				torn[i] = 0
			}
		}
		writeLog(t, dir, torn)
		j, err := Open(state, guid, "a")
		if err != nil || !reflect.DeepEqual(j.Entries(), es[:2]) {
			t.Fatalf("sectors %b lost: %v", lost, err)
		}
		_ = j.Close()
	}
	// The same in the middle is no crash's work: what follows was written later.
	rotten := bytes.Clone(log)
	clear(rotten[(at[0]/sector+1)*sector : (at[0]/sector+2)*sector])
	writeLog(t, dir, rotten)
	if _, err := Open(state, guid, "a"); !errors.Is(err, errDamaged) {
		t.Errorf("a hole in the middle: %v", err)
	}
	// Nor are more zeros than a record is long.
	writeLog(t, dir, append(bytes.Clone(log), make([]byte, maxFrame+1)...))
	if _, err := Open(state, guid, "a"); !errors.Is(err, errDamaged) {
		t.Errorf("a long hole: %v", err)
	}
}

func TestRecordsOutOfPlace(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := kept(t, state, "a", someEntries(3)...)
	log := readLog(t, dir)
	at := ends(t, log)
	part := func(i int) []byte { return log[at[i-1]:at[i]] }
	for name, bad := range map[string][]byte{
		"twice":           bytes.Join([][]byte{log[:at[2]], part(2)}, nil),
		"left out":        bytes.Join([][]byte{log[:at[1]], part(3)}, nil),
		"exchanged":       bytes.Join([][]byte{log[:at[0]], part(2), part(1), part(3)}, nil),
		"another's words": append(bytes.Clone(log), "hello"...),
	} {
		writeLog(t, dir, bad)
		if _, err := Open(state, guid, "a"); !errors.Is(err, errDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := kept(t, state, "b")
	if err := errors.Join(os.RemoveAll(dir), os.Rename(other, dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(state, guid, "a"); !errors.Is(err, errDamaged) {
		t.Errorf("another plan's journal: %v", err)
	}
}

func TestWhatALaterVersionWroteIsNotPassedOver(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	dir := kept(t, state, "a")
	record, _, err := frame(1, map[string]any{"step": 0, "outcome": "done", "unless": "the moon is full"})
	if err != nil {
		t.Fatal(err)
	}
	log := append(readLog(t, dir), record...)
	writeLog(t, dir, log)
	if _, err := Open(state, guid, "a"); err == nil || !strings.Contains(err.Error(), "unless") {
		t.Errorf("an unknown field: %v", err)
	}
	if !bytes.Equal(readLog(t, dir), log) {
		t.Error("what is not understood was cut off")
	}
}
