package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/repair"
)

// grown gives the chunks of a journal with n entries of about 100 kB each.
func grown(t *testing.T, n int) ([][]byte, []repair.Entry) {
	t.Helper()
	es := someEntries(n)
	for i := range es {
		es[i].Now = json.RawMessage(`"` + strings.Repeat("x", 100_000+i) + `"`)
	}
	j, err := restore(t.TempDir(), guid, aPlan("a"), es)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	chunks, err := Chunks(j)
	if err != nil {
		t.Fatal(err)
	}
	return chunks, es
}

func TestChunks(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 1, 1: 1, 5: 1, 6: 2, 23: 5} {
		chunks, es := grown(t, n)
		for i, c := range chunks {
			if len(c) > 512<<10 {
				t.Errorf("chunk %d has %d bytes", i, len(c))
			}
		}
		if len(chunks) != want {
			t.Errorf("%d entries: %d chunks, not %d", n, len(chunks), want)
		}
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(chunks), func(i, k int) { chunks[i], chunks[k] = chunks[k], chunks[i] })
		plan, got, err := FromChunks(chunks)
		if err != nil || !reflect.DeepEqual(plan, aPlan("a")) || len(got) != n || n > 0 && !reflect.DeepEqual(got, es) {
			t.Errorf("%d entries: %d came back, %v", n, len(got), err)
		}
	}
	state := t.TempDir() // what was appended is in them too
	kept(t, state, "b", someEntries(2)...)
	j := opened(t, state, "b")
	if err := j.Append(repair.Entry{Step: EntirePlan, Outcome: repair.Done}); err != nil {
		t.Fatal(err)
	}
	chunks, err := Chunks(j)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := FromChunks(chunks); err != nil || !reflect.DeepEqual(got, j.Entries()) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestACopyThatLacksAChunk(t *testing.T) {
	t.Parallel()
	chunks, es := grown(t, 23)
	for i := range chunks {
		rest := slices.Delete(slices.Clone(chunks), i, i+1)
		plan, got, err := FromChunks(rest)
		if !errors.Is(err, errShort) {
			t.Errorf("without chunk %d: %v", i, err)
		}
		if (plan != nil) != (i > 0) || len(got) > len(es) || len(got) > 0 && !reflect.DeepEqual(got, es[:len(got)]) {
			t.Errorf("without chunk %d: plan %v, %d entries", i, plan != nil, len(got))
		}
		if i == len(chunks)-1 && len(got) != 20 {
			t.Errorf("without the last: %d entries", len(got))
		}
	}
	for _, none := range [][][]byte{nil, {}, {nil}, {{}}} {
		if _, _, err := FromChunks(none); err == nil {
			t.Error("nothing was read as a journal")
		}
	}
	if _, _, err := FromChunks(append(slices.Clone(chunks), chunks[0])); !errors.Is(err, errDamaged) {
		t.Errorf("one twice: %v", err)
	}
	j, err := restore(t.TempDir(), guid, aPlan("b"), es) // as long as the other: its records lie at the same places
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	others, err := Chunks(j)
	if err != nil {
		t.Fatal(err)
	}
	mixed := slices.Clone(chunks)
	mixed[2] = others[2]
	if _, _, err := FromChunks(mixed); !errors.Is(err, errDamaged) {
		t.Errorf("of two plans: %v", err)
	}
}

func TestAnOldChunkAmongNewOnes(t *testing.T) {
	t.Parallel()
	old, _ := grown(t, 8)
	mixed, es := grown(t, 23)
	mixed[1] = old[1]
	if _, got, err := FromChunks(mixed); !errors.Is(err, errShort) || !reflect.DeepEqual(got, es[:8]) {
		t.Errorf("%d entries, %v", len(got), err)
	}
}

// A copy is renewed chunk by chunk, and whoever does it may die in between.
func TestARenewedCopyIsGoodAtEveryMoment(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 3, 5, 11, 22} {
		old, _ := grown(t, n)
		fresh, es := grown(t, 23)
		for written := range len(fresh) + 1 {
			now := slices.Clone(fresh[:written])
			if written < len(old) {
				now = append(now, old[written:]...)
			}
			plan, got, err := FromChunks(now)
			short := written > 0 && written < len(fresh) && len(old) < len(fresh)
			if !short && err != nil || short && !errors.Is(err, errShort) {
				t.Errorf("%d of %d written over %d: %v", written, len(fresh), len(old), err)
			}
			if plan == nil || len(got) < n || len(got) > 0 && !reflect.DeepEqual(got, es[:len(got)]) {
				t.Errorf("%d of %d written over %d: %d entries, it had %d", written, len(fresh), len(old), len(got), n)
			}
		}
	}
}

func TestFlipEveryByteOfACopy(t *testing.T) {
	t.Parallel()
	j, err := restore(t.TempDir(), guid, aPlan("a"), someEntries(3))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	chunks, err := Chunks(j)
	if err != nil || len(chunks) != 1 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	for i := range chunks[0] {
		for _, mask := range []byte{0x01, 0x20, 0xff} {
			bad := bytes.Clone(chunks[0])
			bad[i] ^= mask
			if _, _, err := FromChunks([][]byte{bad}); !errors.Is(err, errDamaged) {
				t.Fatalf("byte %d ^ %02x: %v", i, mask, err)
			}
		}
		if _, _, err := FromChunks([][]byte{chunks[0][:i]}); !errors.Is(err, errDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func TestRestoreFromACopy(t *testing.T) {
	t.Parallel()
	chunks, es := grown(t, 7)
	plan, got, err := FromChunks(chunks)
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	j, err := restore(state, guid, plan, got)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(es[0]), j.Close()); err != nil {
		t.Fatal(err)
	}
	if got := opened(t, state, "a").Entries(); !reflect.DeepEqual(got, append(es, es[0])) {
		t.Errorf("%d entries", len(got))
	}
	if _, err := restore(state, guid, plan, nil); !errors.Is(err, ErrExists) {
		t.Errorf("over one that exists: %v", err)
	}
}
