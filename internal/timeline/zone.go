package timeline

import "time"

// zones are the locations of offsets, by seconds east of UTC; there are few. note is called with
// Log.mu held; after that of may be called from several goroutines.
type zones map[int]*time.Location

func (z zones) note(east int) {
	if _, ok := z[east]; !ok && east != 0 {
		z[east] = time.FixedZone("", east)
	}
}

// of gives the zone in which an event's time is shown: that of its file's timestamps, so that
// the reader finds the same digits in the file, else that of the event's own timestamp.
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

// inOneZone converts the times of a story's events to the zone that most of them have, so that
// one sentence never mixes times of two zones.
func inOneZone(events []Event) {
	count := map[*time.Location]int{}
	var most *time.Location // of equally frequent ones the first
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
