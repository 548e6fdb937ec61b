package draw

import (
	"time"

	"plumbline.dev/plumbline/internal/forensics"
)

// fuzzed is a story with foreign text in all its places.
func fuzzed(foreign, id string, at int64, kind, boxes uint8) *forensics.Story {
	s := &forensics.Story{Pod: foreign, NotShown: []string{foreign}}
	now := time.Unix(at, 0)
	for i := range int(boxes % 9) {
		own := id + foreign[:min(len(foreign), i)]
		now = now.Add(time.Duration(int8(kind)) * time.Second)
		s.Sandboxes = append(s.Sandboxes, forensics.Sandbox{ID: own, Node: foreign, UID: foreign, Added: now})
		for k := range 3 {
			s.Events = append(s.Events, forensics.Event{
				At: now, Kind: forensics.Kind(kind) + forensics.Kind(k), Source: foreign, Node: foreign, Sandbox: own, UID: foreign, Note: foreign, Object: foreign, Count: int(int8(kind)),
				Place: forensics.Place{File: uint16(k), Line: uint32(i)},
			})
		}
		s.Verdicts = append(s.Verdicts, forensics.Verdict{
			Cause: forensics.LateDel, Certainty: forensics.Certainty(foreign), At: now, Culprit: own, Victim: id, Says: foreign, Error: foreign, Lost: []string{foreign},
			Lines: []forensics.Place{{Line: uint32(i)}},
		})
	}
	return s
}
