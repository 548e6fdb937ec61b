package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A ZoneSince is the zone that a file's own timestamps show from a time on.
type ZoneSince struct {
	From time.Time
	East int // seconds east of UTC
}

// settleZones completes the times whose zone their file does not show, once all files are read: by
// the zone of other files of the same node, as processes of one machine have one zone; by the user;
// by events that other logs report too. l.mu must be held.
func (l *Log) settleZones(told *time.Location) {
	nodes := zonesOfNodes(l.files, l.hostFiles())
	l.followNodes(nodes)
	doubtful := l.setBacks()
	for p := range l.events.all() {
		if p.at != noTime && doubtful.doubts(p) {
			p.zoneBy = ZoneAssumed
		}
	}
	if !l.assumes() {
		return
	}
	by, byUser := map[uint16]zoneOf{}, map[uint16]zoneOf{}
	for i := range l.files {
		f := &l.files[i]
		switch zones := nodes[f.Node]; {
		case f.Zoned:
		case len(zones) > 0:
			by[uint16(i)] = spans(zones)
			f.zone(zones[0].East, "from other files of "+f.Node)
		case told != nil:
			byUser[uint16(i)] = located(told)
			_, east := f.Ends.In(told).Zone()
			f.zone(east, "as you said")
		}
	}
	l.shift(ZoneShown, by, doubtful)
	l.shift(ZoneShown, byUser, nil)
	l.shiftContainers(doubtful)
	inferred := map[uint16]zoneOf{}
	for file, east := range l.inferredZones(doubtful) {
		if len(nodes[l.files[file].Node]) > 1 {
			continue // one offset is not that of a zone that changes
		}
		inferred[file] = spans([]ZoneSince{{East: east}})
		l.files[file].zone(east, "by events that other logs report too")
	}
	l.shift(ZoneInferred, inferred, doubtful)
	l.zoned = false
	for p := range l.events.all() {
		l.zoned = l.zoned || p.at != noTime && p.zoneBy != ZoneAssumed
	}
	l.index = nil
}

// followNodes moves the times of a file for which one line showed the zone, on a node whose zone
// changed. What is not known then is assumed.
func (l *Log) followNodes(nodes map[string][]ZoneSince) {
	by := map[uint16]zoneOf{}
	for i := range l.files {
		f := &l.files[i]
		switch zones := nodes[f.Node]; {
		case len(zones) < 2:
		case len(f.Zones) == 0:
			by[uint16(i)] = spans(zones)
		case f.Zones[0].East != f.East: // it did not follow its own timestamps
			by[uint16(i)] = func(time.Time) (int, bool) { return 0, false }
		}
	}
	if len(by) == 0 {
		return
	}
	for p := range l.events.all() {
		if of := by[p.file]; of != nil && p.zoneBy == ZoneOfFile && p.at != noTime {
			wall := time.Unix(0, p.at).UTC().Add(time.Duration(l.files[p.file].East) * time.Second)
			p.zoneBy = ZoneAssumed
			if east, ok := of(wall); ok {
				p.at, p.zoneBy = wall.Add(-time.Duration(east)*time.Second).UnixNano(), ZoneShown
			}
		}
	}
}

// A zoneOf gives the offset of a time that was read as UTC; false if it is not known, or if two fit.
type zoneOf func(wall time.Time) (east int, ok bool)

func located(z *time.Location) zoneOf {
	return func(wall time.Time) (int, bool) {
		t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, z)
		_, east := t.Zone()
		_, later := t.Add(time.Hour).Zone()
		_, before := t.Add(-time.Hour).Zone()
		return east, later == east && before == east
	}
}

// unsure is how far from a change of a zone times without one are not known: which of two hours is
// meant, and whether a process has taken up the change, no line shows.
const unsure = 3 * time.Hour

// spans gives the offsets of a zone that may change.
func spans(zones []ZoneSince) zoneOf {
	return func(wall time.Time) (east int, ok bool) {
		east = zones[0].East
		for _, z := range zones[1:] {
			t := wall.Add(-time.Duration(z.East) * time.Second)
			switch {
			case t.Sub(z.From).Abs() < unsure:
				return 0, false
			case t.After(z.From):
				east = z.East
			}
		}
		return east, true
	}
}

// assumes reports whether a time rests on an assumed zone.
func (l *Log) assumes() bool {
	for p := range l.events.all() {
		if p.zoneBy == ZoneAssumed {
			return true
		}
	}
	return false
}

// shift moves the times that were read as UTC by the offset of their file's zone, but not doubtful ones.
func (l *Log) shift(by ZoneBy, zones map[uint16]zoneOf, doubtful setBack) {
	if len(zones) == 0 {
		return
	}
	for p := range l.events.all() {
		of := zones[p.file]
		if of == nil || p.zoneBy != ZoneAssumed || p.at == noTime || !hostSource(l.sources[p.source]) || doubtful.doubts(p) {
			continue
		}
		if east, ok := of(time.Unix(0, p.at).UTC()); ok {
			p.at -= int64(east) * int64(time.Second)
			p.zoneBy = by
		}
	}
}

// shiftContainers: what runs in a container of Calico's has UTC, unless somebody has given it the
// zone of its node.
func (l *Log) shiftContainers(doubtful setBack) {
	for p := range l.events.all() {
		if p.zoneBy == ZoneAssumed && !doubtful.doubts(p) && !hostSource(l.sources[p.source]) {
			p.zoneBy = ZoneInferred
		}
	}
}

// zone notes the zone of a file's timestamps without one.
func (f *File) zone(east int, by string) {
	f.East, f.Zoned = east, true
	f.Guessed = slices.DeleteFunc(f.Guessed, func(s string) bool { return strings.Contains(s, "without a zone") })
	f.Guessed = append(f.Guessed, fmt.Sprintf("timestamps without a zone: %s, %s", offsetName(east), by))
}

// hostFiles gives the files with events of components that run on the node itself: the zone of a
// container is not that of its node. l.mu must be held.
func (l *Log) hostFiles() map[uint16]bool {
	out := map[uint16]bool{}
	for p := range l.events.all() {
		if hostSource(l.sources[p.source]) {
			out[p.file] = true
		}
	}
	return out
}

// zonesOfNodes gives the zones of each node whose files show them, in order of time; none if two
// files differ.
func zonesOfNodes(files []File, host map[uint16]bool) map[string][]ZoneSince {
	out, differ := map[string][]ZoneSince{}, map[string]bool{}
	for i := range files {
		f := &files[i]
		if f.Node == "" || !f.Zoned && len(f.Zones) == 0 || !host[uint16(i)] && !f.Own {
			continue
		}
		zones := f.Zones
		if len(zones) == 0 {
			zones = []ZoneSince{{East: f.East}}
		}
		switch was := out[f.Node]; {
		case was == nil || len(was) == 1 && len(zones) > 1 && zones[0].East == was[0].East:
			out[f.Node] = zones
		case !slices.EqualFunc(was[:min(len(was), len(zones))], zones[:min(len(was), len(zones))], func(a, b ZoneSince) bool { return a.East == b.East }):
			differ[f.Node] = true
		}
	}
	for node := range differ {
		delete(out, node)
	}
	return out
}

// hostSource reports whether a component runs on the node itself, with the node's zone.
func hostSource(source string) bool {
	switch source {
	case "kubelet", "containerd", "crio", "dockerd", "cni", "ipam":
		return true
	default:
		return false
	}
}

func offsetName(east int) string {
	return time.Unix(0, 0).In(time.FixedZone("", east)).Format("-07:00")
}
