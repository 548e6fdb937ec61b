package timeline

import "time"

// How many subjects must be in a file and in others, and which part of them must agree on an offset,
// for the offset to be inferred.
const (
	minTwins    = 2
	mostOf      = 0.8
	quarter     = 15 * time.Minute // offsets of zones are multiples of it
	fromQuarter = 2 * time.Minute  // by which two logs may report the same subject apart
)

// inferredZones gives the offsets of files whose zone nothing shows, where the sandboxes and pods in
// them are in logs of a known zone too: the first lines about one are close together in time, but
// for the offset. Files of one node have one zone.
func (l *Log) inferredZones(doubtful setBack) map[uint16]int {
	known := map[uint32]int64{}           // when each subject is first mentioned
	bare := map[string]map[uint32]int64{} // the same by node or file, where the zone is not known
	files := map[string]map[uint16]bool{}
	earliest := func(in map[uint32]int64, p *packed, key uint32) {
		if at, ok := in[key]; !ok || p.at < at {
			in[key] = p.at
		}
	}
	for p := range l.events.all() {
		s := l.subjects.value(p.subject)
		key := s.sandbox
		if key == 0 {
			key = s.uid
		}
		switch {
		case key == 0 || p.at == noTime:
		case p.zoneBy <= ZoneOfFile:
			earliest(known, p, key)
		case p.zoneBy == ZoneAssumed && hostSource(l.sources[p.source]) && !doubtful.doubts(p):
			of := l.files[p.file].Node
			if of == "" {
				of = l.files[p.file].Name
			}
			if bare[of] == nil {
				bare[of], files[of] = map[uint32]int64{}, map[uint16]bool{}
			}
			files[of][p.file] = true
			earliest(bare[of], p, key)
		}
	}
	out := map[uint16]int{}
	for of, subjects := range bare {
		if east, ok := agreed(subjects, known); ok {
			for file := range files[of] {
				out[file] = east
			}
		}
	}
	return out
}

// agreed gives the offset on which most subjects agree.
func agreed(bare, known map[uint32]int64) (east int, ok bool) {
	votes, twins := map[int]int{}, 0
	for key, at := range bare {
		other, there := known[key]
		if !there {
			continue
		}
		twins++
		d := time.Duration(at - other)
		if q := d.Round(quarter); q.Abs() <= 14*time.Hour && (d-q).Abs() <= fromQuarter {
			votes[int(q/time.Second)]++
		}
	}
	for offset, n := range votes {
		if n >= minTwins && float64(n) >= mostOf*float64(twins) {
			return offset, true
		}
	}
	return 0, false
}
