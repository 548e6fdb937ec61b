package parse

import (
	"os"
	"path/filepath"
	"testing"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// TestBeginnings: the filter rejects no line with a phrase, and most others.
func TestBeginnings(t *testing.T) {
	t.Parallel()
	for origin, phrases := range kubeletSays {
		for _, p := range phrases {
			if !wantsKubelet(&records.Record{Origin: origin, Text: []byte(p.begins)}) {
				t.Errorf("%s: %q is passed over", origin, p.begins)
			}
		}
	}
	marked := 0
	for _, m := range kubeletBegins {
		if m {
			marked++
		}
	}
	if marked < 20 || marked > len(kubeletBegins)/20 {
		t.Errorf("%d of %d places are marked", marked, len(kubeletBegins))
	}
}

// FuzzBeginnings: whatever the text, quickly and slowly the same is wanted.
func FuzzBeginnings(f *testing.F) {
	for origin, phrases := range kubeletSays {
		for _, p := range phrases {
			f.Add(origin, []byte(p.begins))
		}
	}
	names, err := filepath.Glob("testdata/*kubelet*.log")
	if err != nil || len(names) < 3 {
		f.Fatal(names, err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("kubelet.go", b)
	}
	f.Fuzz(func(t *testing.T, origin string, text []byte) {
		if got, want := wantsKubelet(&records.Record{Origin: origin, Text: text}), heard(kubeletSays[origin], text) != nil; got != want {
			t.Errorf("%s %q: wanted %v, want %v", origin, text, got, want)
		}
	})
}
