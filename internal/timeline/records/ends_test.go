package records

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestEnds: a file continues until its last line that has a time, wanted or not, whatever
// the chunks' size.
func TestEnds(t *testing.T) {
	t.Parallel()
	const wanted = "2026-11-15 10:00:01.000 [INFO][7] cni-plugin/k8s.go 418: wanted\n"
	for name, c := range map[string]struct {
		text    string
		want    time.Time
		guessed int
	}{
		"a line that nobody wants": {wanted + strings.Repeat("2026-11-15 10:07:00.000 [INFO][7] felix/int.go 1: other\n", 9), time.Date(2026, 11, 15, 10, 7, 0, 0, time.UTC), 1},
		"lines without a time":     {wanted + "goroutine 1 [running]:\n\nmain.main()\n", time.Date(2026, 11, 15, 10, 0, 1, 0, time.UTC), 1},
		"only what is not wanted":  {"Nov 15 10:09:00 n1 kernel: other\n", time.Date(2026, 11, 15, 10, 9, 0, 0, time.UTC), 0},
		"an audit line":            {wanted + `{"kind":"Event","apiVersion":"audit.k8s.io/v1","requestReceivedTimestamp":"2026-11-15T10:08:00.000000Z","stageTimestamp":"2026-11-15T10:08:00.000000Z"}`, time.Date(2026, 11, 15, 10, 8, 0, 0, time.UTC), 1},
		"no time at all":           {"wanted\nother\n", time.Time{}, 0},
		"too long a trace":         {wanted + strings.Repeat("at\n", maxTrailing), time.Time{}, 1},
		"the last line, not ended": {wanted + "2026-11-15 10:07:00.000 [INFO][7] felix/int.go 1: other", time.Date(2026, 11, 15, 10, 7, 0, 0, time.UTC), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{64, chunkSize} {
				o := Options{Now: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC), Wants: func(r *Record) bool { return slices.Equal(r.Text, []byte("wanted")) }}
				files, _ := records(t, size, o, file("one", c.text))
				if got := files[0].Ends; !got.Equal(c.want) && (size == chunkSize || !c.want.IsZero()) || len(files[0].Guessed) != c.guessed {
					t.Errorf("chunks of %d: ends at %v, want %v; guessed %q", size, got, c.want, files[0].Guessed)
				}
			}
		})
	}
}
