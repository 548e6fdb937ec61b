package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// orderOf gives file and line of a story's events, those without time in brackets.
func orderOf(s *Story) string {
	var out []string
	for _, e := range s.Events {
		at := fmt.Sprintf("%d:%d", e.Place.File, e.Place.Line)
		if e.At.IsZero() {
			at = "(" + at + ")"
		}
		out = append(out, at)
	}
	return strings.Join(out, " ")
}

func TestRowsStandWithTheirNeighbours(t *testing.T) {
	t.Parallel()
	pasted := tale2017()
	pasted.write(0, PodSeen, "", timeless, ip("192.168.8.33")). // before the first time
									write(30, AddEnd, idA).
									write(0, PodSeen, idA, timeless, ip("192.168.8.33")).
									write(40, DelBegin, idA).
									write(10, AddBegin, idA). // an earlier excerpt
									write(0, PodSeen, "", timeless, ip("192.168.8.34"))
	other := &pen{file: 1, source: "kubelet", node: "slave-197"}
	other.write(35, PodKilled, idA).write(20, PodGone, "")
	rows := &pen{file: 2, source: "kubectl"}
	rows.write(0, PodSeen, "", timeless, ip("192.168.8.35"))
	got := orderOf(judged(t, pasted.out, other.out, rows.out))
	if want := "0:5 (0:6) 1:2 (0:1) 0:2 (0:3) 1:1 0:4 (2:1)"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
}

// TestRowsAreNotLines checks that a row without time is never taken for a line that has
// one, though it stands beside it: it would be given what the line says.
func TestRowsAreNotLines(t *testing.T) {
	t.Parallel()
	pasted := tale2017().write(30, AddEnd, idA, ip("192.168.8.33")).write(0, PodSeen, "", timeless, ip("192.168.8.33"))
	other := &pen{file: 1, source: "kubelet", node: "slave-197"}
	other.write(30.1, PodSeen, "", uid(uidB))
	s := judged(t, pasted.out, other.out)
	if got, want := orderOf(s), "0:1 (0:2) 1:1"; got != want || s.Events[1].UID != "" {
		t.Errorf("the order is %s, want %s: %+v", got, want, s.Events[1])
	}
}

// TestRowsBetweenFailures checks that a row between the lines of one failure does not
// part them.
func TestRowsBetweenFailures(t *testing.T) {
	t.Parallel()
	p := tale2017().write(10, DelFailed, "", note(gone)).write(0, PodSeen, "", timeless, ip("192.168.8.33")).write(10.1, SandboxStopFailed, idA, note(gone))
	if s := judged(t, p.out); s.Events[0].Sandbox != idA {
		t.Errorf("whose DEL failed is not known: %+v", s.Events[0])
	}
}

// TestRowsDoNotBegin checks that what is blocked is so since the first time that is known.
func TestRowsDoNotBegin(t *testing.T) {
	t.Parallel()
	p := tale2017().write(0, RuntimeTimeout, idA, timeless, times(4)).write(10, RuntimeTimeout, idA).write(90, RuntimeTimeout, idA).write(0, RuntimeTimeout, idA, timeless, times(5))
	v := only(t, judged(t, p.out), TeardownBlocked)[0]
	if !strings.HasPrefix(v.Says, "since 20:00:10 by ") || v.Until.Format("15:04:05") != "20:01:30" || v.Count != 11 {
		t.Errorf("got %+v", v)
	}
}

func TestAddressMovedByTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		file  uint16
		after bool // the row stands behind the ADD
		want  Certainty
	}{
		{"before", 0, false, Proven}, {"behind", 0, true, Likely}, {"elsewhere", 1, false, Likely},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			row := &pen{file: c.file, source: "kubectl", node: "slave-197"}
			if c.after {
				row.line = 100
			}
			row.write(0, PodSeen, "", timeless, ip("192.168.8.33"))
			p := tale2017()
			p.line = 10
			p.write(0, DelBegin, idA).write(1, DelFailed, idA, note(gone)).add(10, idB, "192.168.8.34").del(30, idA)
			s := judged(t, row.out, p.out)
			for _, v := range s.Verdicts {
				if v.Cause != AddressMoved {
					continue
				}
				if v.Certainty != c.want || v.Says != "192.168.8.33 became 192.168.8.34 (sandbox 291716a39be9) by 20:00:10" || v.Culprit != "" || v.Victim != idB {
					t.Errorf("got %+v", v)
				}
				return
			}
			t.Error("no such verdict")
		})
	}
}
