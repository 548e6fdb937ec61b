package loggen_test

import (
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plumbline.dev/plumbline/internal/timeline/loggen"
	"plumbline.dev/plumbline/internal/timeline/records"
	"plumbline.dev/plumbline/internal/timeline/timelinetest"
)

// zones are those in which nodes are: one has half an hour, one changes to winter time in the middle.
var zones = []float64{0, 8, 5.5, -3.5, -10}

// disguised gives a history as nodes in other zones write it, each file in one of the forms in which
// people have logs.
func disguised(t *testing.T, h *loggen.History, seed uint64) []records.Input {
	t.Helper()
	forms := slices.Sorted(maps.Keys(timelinetest.Wrappings))
	zone := timelinetest.Fixed(zones[seed%uint64(len(zones))])
	if seed%7 == 6 {
		middle := h.Begin.Add(h.Lasts / 2)
		zone = func(at time.Time) int {
			if at.Before(middle) {
				return 7200
			}
			return 3600
		}
	}
	dir := fstest.MapFS{}
	for name, b := range h.Files() {
		dir[name] = &fstest.MapFile{Data: disguise(name, string(b), h.Begin.Year(), zone, forms, seed), ModTime: h.Begin.Add(h.Lasts)}
	}
	in, err := records.Walk(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// disguise writes one file. JSON is left as it is: it has a form already. Felix and the controllers run
// in containers, whose zone is UTC.
func disguise(name, log string, year int, zone timelinetest.Zone, forms []string, seed uint64) []byte {
	base := path.Base(name)
	if strings.Contains(base, "audit") || strings.Contains(base, "events") || strings.HasPrefix(strings.TrimSpace(log), "{") {
		return []byte(log)
	}
	program, _, _ := strings.Cut(base, ".")
	lines := timelinetest.Lines(log, year, path.Base(path.Dir(name)), program)
	if !strings.Contains(base, "felix") && !strings.Contains(base, "controllers") {
		for i := range lines {
			lines[i].Text = zone.Written(lines[i].Text)
		}
	}
	if slices.ContainsFunc(lines, func(l timelinetest.Timed) bool { return l.At.IsZero() }) {
		forms = []string{"01-plain", "15-ansi", "16-utf16", "16b-utf8bom", "18-xz", "18c-zip"} // it is in a form of its own already
		lines = timelinetest.Lines(log, year, "", "")
	}
	pick := fnv.New64a()
	_, _ = pick.Write([]byte(name))
	form := forms[(pick.Sum64()^seed)%uint64(len(forms))]
	if form == "08-containerd-json" && program != "containerd" {
		form = "01-plain"
	}
	return timelinetest.Wrappings[form](lines)
}
