//go:build e2e

package write

import (
	"errors"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/kube"
)

func (e *edge) journal(t *testing.T, c *kube.Client) {
	ctx := t.Context()
	j := JournalMaps{Writer: writing(t, c)}
	big := []byte(strings.Repeat("\x00\xff\x80a", maxChunk/4))
	same := func(want ...[]byte) {
		t.Helper()
		got, err := j.Read(ctx, "7f3a")
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d chunks, %v", len(got), err)
		}
		for i := range got {
			if string(got[i]) != string(want[i]) {
				t.Errorf("chunk %d differs", i)
			}
		}
	}
	same()
	for _, chunks := range [][][]byte{{[]byte("one")}, {[]byte("one, two")}, {append([]byte("one, two"), big[8:]...)}, {append([]byte("one, two"), big[8:]...), big, []byte("tail")}} {
		for range 2 { // the second changes nothing
			if err := j.Put(ctx, "7f3a", chunks); err != nil {
				t.Fatal(err)
			}
		}
		same(chunks...)
	}
	if err := j.Put(ctx, "7f3a", [][]byte{[]byte("another")}); !errors.Is(err, execute.ErrRefused) {
		t.Errorf("another journal: %v", err)
	}
	if err := j.Put(ctx, "7f3a-0", [][]byte{[]byte("b")}); err != nil {
		t.Error(err)
	}
	if err := j.Put(ctx, "x", [][]byte{append(big, 1)}); err == nil {
		t.Error("a chunk that is too big")
	}
	e.do("DELETE", journalsIn(kube.AgentNamespace)+"/plumbline-journal-7f3a-2", "")
	if got, err := j.Read(ctx, "7f3a"); !errors.Is(err, errCut) || len(got) != 2 {
		t.Errorf("the last is gone: %d chunks, %v", len(got), err)
	}
	e.do("DELETE", journalsIn(kube.AgentNamespace)+"/plumbline-journal-7f3a-0", "")
	if got, err := j.Read(ctx, "7f3a"); !errors.Is(err, errCut) || len(got) != 0 {
		t.Errorf("the first is gone: %d chunks, %v", len(got), err)
	}
	e.do("POST", journalsIn(kube.AgentNamespace), `{"metadata":{"name":"mine","labels":{"plumbline.dev/journal":"7f3a"}}}`)
	if n, err := j.Prune(ctx, time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("journals of today: %d removed, %v", n, err)
	}
	if n, err := j.Prune(ctx, time.Now().Add(time.Hour)); n != 2 || err != nil { // of 7f3a and 7f3a-0
		t.Errorf("old journals: %d removed, %v", n, err)
	}
	same()
	e.do("DELETE", journalsIn(kube.AgentNamespace)+"/mine", "") // not ours: it was not touched
}
