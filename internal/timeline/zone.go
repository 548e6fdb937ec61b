package timeline

import "time"

// zones are the offsets' locations, by seconds east of UTC; there are few. They are noted
// while the log's lock is held, so that many may ask for them later.
type zones map[int]*time.Location

func (z zones) note(east int) {
	if _, ok := z[east]; !ok && east != 0 {
		z[east] = time.FixedZone("", east)
	}
}

// of gives the zone in which an event's time is told: that of its file's stamps, so that a
// person finds there what is told here, else that of its own.
func (z zones) of(p *packed, files []File) *time.Location {
	east := int(p.zone) * 60
	if f := int(p.file); f < len(files) && files[f].East != 0 {
		east = files[f].East
	}
	if at, ok := z[east]; ok {
		return at
	}
	return time.UTC
}

// inOneZone brings the times of a story's events to the zone that most of them have: files
// of several zones would put two clocks into one sentence.
func inOneZone(events []Event) {
	count := map[*time.Location]int{}
	var most *time.Location // the first of those that are as many
	for i := range events {
		if at := events[i].At; !at.IsZero() {
			z := at.Location()
			count[z]++
			if most == nil || count[z] > count[most] {
				most = z
			}
		}
	}
	if len(count) < 2 {
		return
	}
	for i := range events {
		if !events[i].At.IsZero() {
			events[i].At = events[i].At.In(most)
		}
	}
}

// zone gives the zone of the story's times.
func (s *Story) zone() *time.Location { return s.firstTime().Location() }

// firstTime gives the first time that an event of the story has.
func (s *Story) firstTime() time.Time {
	for i := range s.Events {
		if at := s.Events[i].At; !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}
