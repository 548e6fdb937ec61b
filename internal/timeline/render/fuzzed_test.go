package render

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// fuzzed is a story with foreign text in all its places.
func fuzzed(foreign, id string, at int64, kind, boxes uint8) *timeline.Story {
	s := &timeline.Story{Pod: foreign, NotShown: []string{foreign}}
	now := time.Unix(at, 0)
	for i := range int(boxes % 9) {
		own := id + foreign[:min(len(foreign), i)]
		now = now.Add(time.Duration(int8(kind)) * time.Second)
		s.Sandboxes = append(s.Sandboxes, timeline.Sandbox{ID: own, Node: foreign, UID: foreign, Added: now})
		for k := range 3 {
			s.Events = append(s.Events, timeline.Event{
				At: now, Kind: timeline.Kind(kind) + timeline.Kind(k), Source: foreign, Node: foreign, Sandbox: own, UID: foreign, Note: foreign, Object: foreign, Count: int(int8(kind)),
				Place: timeline.Place{File: uint16(k), Line: uint32(i)},
			})
		}
		s.Verdicts = append(s.Verdicts, timeline.Verdict{
			Cause: timeline.LateDel, Certainty: timeline.Certainty(foreign), At: now, Culprit: own, Victim: id, Says: foreign, Error: foreign, Lost: []string{foreign},
			Lines: []timeline.Place{{Line: uint32(i)}},
		})
	}
	return s
}
