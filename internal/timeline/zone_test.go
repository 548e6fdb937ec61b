package timeline

import (
	"strings"
	"testing"
	"time"
)

// TestTimesOfTheFile checks that times are told in the zone that the file's stamps have,
// and that one story has one zone.
func TestTimesOfTheFile(t *testing.T) {
	t.Parallel()
	universal := func(e *Event) { e.At = e.At.UTC() }
	p := tale2017().write(0, DelBegin, idA, universal).write(1, DelFailed, idA, universal, note(gone)).write(9, AddEnd, idB, universal).
		write(24, EndpointDeleted, idA, universal)
	audit := &pen{file: 1, source: "audit"}
	audit.write(100, PodTerminating, "", universal)
	audit.node = "slave-197" // what happens to the node is told too
	audit.write(120, NodeNotReady, "", universal, nobody).write(125, NodeNotReady, "", universal, nobody)
	l := NewLog()
	for _, e := range append(p.out, audit.out...) {
		l.Add(e)
	}
	for _, c := range []struct {
		east int
		want string
	}{{0, "12:00:00 +00:00"}, {8 * 3600, "20:00:00 +08:00"}, {-12600, "08:30:00 -03:30"}} {
		l.SetFiles([]File{{Name: "kubelet.log", East: c.east}, {Name: "audit.log"}})
		s := l.Pod(pod)
		Judge(s)
		zone := s.Events[0].At.Location()
		if got := s.Events[0].At.Format("15:04:05 -07:00"); got != c.want || !s.Events[0].At.Equal(epoch) {
			t.Errorf("got %s, want %s", got, c.want)
		}
		for _, e := range s.Events {
			if want := epoch.Add(125 * time.Second).In(zone).Format("15:04:05"); e.Kind == NodeNotReady && !strings.Contains(e.Note, want) {
				t.Errorf("%q lacks %s", e.Note, want)
			}
			if e.At.Location() != zone {
				t.Errorf("%s of %s is of another zone", e.At, e.Source)
			}
		}
		for _, v := range s.Verdicts {
			if since := "since " + epoch.Add(time.Second).In(zone).Format("15:04:05"); v.Cause == RetriedDel && !strings.Contains(v.Says, since) {
				t.Errorf("%q lacks %q", v.Says, since)
			}
		}
		if len(s.Verdicts) != 2 {
			t.Errorf("%d verdicts", len(s.Verdicts))
		}
	}
}
