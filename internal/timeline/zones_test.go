package timeline_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plumbline.dev/plumbline/internal/timeline/records"
	"plumbline.dev/plumbline/internal/timeline/timelinetest"
)

// inZone gives the inputs of one incident as nodes in a zone write them, without the files that
// are missing. Felix runs in a container, whose zone is UTC.
func inZone(t *testing.T, name string, z timelinetest.Zone, missing func(file string) bool) []records.Input {
	t.Helper()
	files := fstest.MapFS{}
	for _, file := range recordedFiles(t, name) {
		if missing != nil && missing(file) {
			continue
		}
		b, err := os.ReadFile("testdata/recorded/" + file)
		if err == nil && strings.HasSuffix(file, ".gz") {
			var r *gzip.Reader
			if r, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
				b, err = io.ReadAll(r)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Base(path.Dir(file))
		if strings.HasPrefix(dir, "node") && !strings.HasSuffix(dir, "-calico") {
			b = []byte(z.Written(string(b)))
		}
		files[strings.TrimSuffix(file, ".gz")] = &fstest.MapFile{Data: b, ModTime: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	in, err := records.Walk(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// middle is a time within a recording, at which a zone may change.
func middle(t *testing.T, name string) time.Time {
	t.Helper()
	var all []time.Time
	for _, v := range everyVerdict(told(t, recording(t, name))) {
		all = append(all, v.At)
	}
	if len(all) == 0 {
		return time.Date(2026, 11, 15, 13, 10, 0, 0, time.UTC)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all[len(all)/2]
}

// TestZones tells every incident as nodes in other zones write it: with all files the same
// verdicts; with a part of the files, and with a zone that changes in the middle, no others.
func TestZones(t *testing.T) {
	t.Parallel()
	eachRecording(t, func(t *testing.T, name, scenario string) {
		at := middle(t, name)
		for place, z := range map[string]timelinetest.Zone{
			"UTC": timelinetest.Fixed(0), "Shanghai": timelinetest.Fixed(8), "Kolkata": timelinetest.Fixed(5.5), "St. John's": timelinetest.Fixed(-3.5), "Honolulu": timelinetest.Fixed(-10),
		} {
			got := everyVerdict(told(t, inZone(t, name, z, nil)))
			nothingNew(t, scenario, place, got)
			if brief := briefly(got); !slices.Equal(brief, recordedTruth[scenario]) {
				t.Errorf("%s: %q, want %q", place, brief, recordedTruth[scenario])
			}
			if testing.Short() { // with the race detector
				continue
			}
			for _, gone := range []string{"containerd.log", "kubelet.log", "cni.log", "audit.log", "felix.log"} {
				nothingNew(t, scenario, place+" without "+gone, everyVerdict(told(t, inZone(t, name, z, func(f string) bool { return component(f) == gone }))))
			}
			for _, only := range []string{"containerd.log", "kubelet.log", "cni.log"} {
				nothingNew(t, scenario, place+" with the control plane and "+only, everyVerdict(told(t, inZone(t, name, z, func(f string) bool {
					return component(f) != only && path.Base(path.Dir(f)) != "control-plane"
				}))))
			}
		}
		for change, east := range map[string][2]int{"to summer time": {3600, 7200}, "to winter time": {7200, 3600}} {
			z := func(t time.Time) int {
				if t.Before(at) {
					return east[0]
				}
				return east[1]
			}
			nothingNew(t, scenario, change, everyVerdict(told(t, inZone(t, name, z, nil))))
		}
	})
}
