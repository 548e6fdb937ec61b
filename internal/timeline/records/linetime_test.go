package records

import (
	"testing"
	"time"
)

func TestLineTime(t *testing.T) {
	t.Parallel()
	modified, east := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), time.FixedZone("", 8*3600)
	for line, want := range map[string][2]string{
		"2026-01-01 13:06:34.037 [INFO][278] x":            {"2026-01-01T05:06:34.037Z", "2026-01-01T13:06:34.037Z"},
		"2026-01-01T13:06:34+08:00 x":                      {"2026-01-01T05:06:34Z", "2026-01-01T05:06:34Z"},
		"\tI0101 13:06:34.000001 1 x":                      {"2026-01-01T05:06:34.000001Z", "2026-01-01T13:06:34.000001Z"},
		"Dec  2 13:06:34 h kubelet[1]: I0101 10:00:00.1 x": {"2025-12-02T05:06:34Z", "2025-12-02T13:06:34Z"},
		`time="2026-01-01T13:06:34Z" level=info`:           {"2026-01-01T13:06:34Z", "2026-01-01T13:06:34Z"},
		`0a0b0c0d {"at":"2026-01-01T13:06:34.1Z"}`:         {"2026-01-01T13:06:34.1Z", "2026-01-01T13:06:34.1Z"},
		"":                          {},
		"x0101 13:06:34.000001 1 x": {},
		"I1301 13:06:34.000001 1 x": {},
		"2026-01-01 25:06:34":       {},
	} {
		local, utc, ok := LineTime([]byte(line), modified, east)
		if got := [2]string{local.UTC().Format(time.RFC3339Nano), utc.Format(time.RFC3339Nano)}; ok != (want[0] != "") || ok && got != want {
			t.Errorf("%q: %s, %t", line, got, ok)
		}
	}
}
