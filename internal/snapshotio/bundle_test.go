package snapshotio

import (
	"bytes"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// A bundle beyond its limits is refused, wherever it is cut: a part of it must not look like all.
func TestBundleLimits(t *testing.T) {
	t.Parallel()
	s := &model.Snapshot{Meta: model.Meta{Schema: model.Schema}, Coverage: []model.Coverage{{Table: model.Pods, State: model.Complete, Rows: 1000}}}
	for range 1000 {
		s.Pods = append(s.Pods, model.Pod{Namespace: "default", Name: "p"})
	}
	var b bytes.Buffer
	if err := WriteBundle(&b, s); err != nil {
		t.Fatal(err)
	}
	read := func(size int64, rows int) (int, error) {
		got, err := ReadBundleOf(bytes.NewReader(b.Bytes()), Limit{Bytes: size, Rows: rows})
		if err != nil {
			return 0, err
		}
		return len(got.Pods), nil
	}
	if n, err := read(1<<20, 2000); n != 1000 || err != nil {
		t.Fatalf("%d pods, %v", n, err)
	}
	if _, err := read(1<<20, 900); err == nil || !strings.Contains(err.Error(), "more than 900 rows") {
		t.Errorf("too many rows: %v", err)
	}
	refused := 0
	for size := int64(512); ; size += 512 { // also between two files
		n, err := read(size, 2000)
		if err == nil {
			if n != 1000 {
				t.Errorf("%d bytes: %d pods", size, n)
			}
			break
		}
		refused++
		if !strings.Contains(err.Error(), "MiB unpacked") {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
	if refused < 10 {
		t.Errorf("only %d sizes were refused", refused)
	}
}
