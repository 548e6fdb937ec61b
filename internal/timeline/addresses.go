package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A holding says that a sandbox was assigned an address.
type holding struct {
	address, pod, sandbox uint32
	at                    int64 // time of the event, in ns since 1970
	event                 int   // number of the event that shows it, in Log.events
}

// An end is what the events show of a sandbox after its ADD.
type end struct {
	asked   int64 // the first time at which the end of the sandbox or the deletion of its pod was requested; MaxInt64 if never
	freed   int   // the event by which the IPAM garbage collector released its address; 0 if none
	running int64 // the last time at which an event shows the sandbox running; noTime if none
	shows   int   // the event of running
}

// JudgeAddresses finds addresses that were assigned to another pod while the first pod still
// had them. This compares pods with each other, so Judge, which reads one story, cannot do it.
//
// For two assignments of one address in a row, to a and then to b:
//   - no verdict if the end of a was requested before b's ADD, give or take clockSlack;
//   - proven if an event shows a running later than b's ADD plus clockSlack;
//   - likely if the IPAM garbage collector had released the address and nothing had ended a.
func JudgeAddresses(l *Log) []Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	given, ends := l.holdings(l.indexed())
	slices.SortFunc(given, func(a, b holding) int {
		return cmp.Or(cmp.Compare(a.address, b.address), cmp.Compare(a.at, b.at), cmp.Compare(a.event, b.event))
	})
	var out []Verdict
	for i := 1; i < len(given); i++ {
		a, b := given[i-1], given[i]
		if a.address != b.address || a.sandbox == b.sandbox || a.pod == b.pod || a.pod == 0 || b.pod == 0 {
			continue
		}
		e := ends[a.sandbox]
		switch late := b.at + int64(clockSlack); {
		case e.asked <= late:
		case e.running > late:
			out = append(out, l.shared(a, b, e.shows, Proven))
		case e.freed != 0 && l.events.at(e.freed).at < b.at:
			out = append(out, l.shared(a, b, e.freed, Likely))
		}
	}
	slices.SortStableFunc(out, func(a, b Verdict) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Pod, b.Pod)) })
	return out
}

// holdings gives every assignment of an address to a sandbox, of each pair one whose zone is known
// best, and the end of every sandbox.
func (l *Log) holdings(x *index) ([]holding, map[uint32]end) {
	var given []holding
	ends := map[uint32]end{}
	type hold struct{ address, sandbox uint32 }
	seen := map[hold]int{} // index in given, plus one
	for n := l.events.first; n < l.events.end; n++ {
		p := l.events.at(n)
		s := &x.subjects[p.subject]
		if s.sandbox == 0 || p.at == noTime {
			continue
		}
		e, ok := ends[s.sandbox]
		if !ok {
			e = end{asked: 1<<63 - 1, running: noTime}
		}
		ends[s.sandbox] = e
		ended := slices.Contains(ending, p.kind) || slices.Contains(failed, p.kind) ||
			slices.Contains(delDid, p.kind) && (p.kind == EndpointDeleted || onNode(l.sources[p.source]))
		if p.zoneBy == ZoneAssumed && l.zoned {
			e.asked = -1 << 63 // when it ended is not known: it may have been before anything else
			ends[s.sandbox] = e
			continue
		}
		switch {
		case p.kind == AddEnd || p.kind == AddressAssigned:
			k, this := hold{p.address, s.sandbox}, holding{p.address, s.pod, s.sandbox, p.at, n}
			switch i := seen[k]; {
			case p.address == 0:
			case i == 0:
				given = append(given, this)
				seen[k] = len(given)
			case p.zoneBy < l.events.at(given[i-1].event).zoneBy: // files are read in any order
				given[i-1] = this
			}
		case p.kind == GCReleased:
			e.freed = n
		case ended:
			e.asked = min(e.asked, p.at)
		}
		switch p.kind {
		case PodSeen, ContainerStarted, DelBegin, PodTerminating, PodKilled:
			if p.at > e.running {
				e.running, e.shows = p.at, n
			}
		default:
		}
		ends[s.sandbox] = e
	}
	return given, ends
}

// shared makes the verdict that b was assigned the address that a still had. Event shows is
// the evidence for a.
func (l *Log) shared(a, b holding, shows int, sure Certainty) Verdict {
	word := func(n uint32) string { return string(l.texts.get(n)) }
	addr, at := l.addresses.value(a.address), l.events.at(b.event)
	v := Verdict{
		Cause: AddressMoved, Certainty: sure, Pod: word(a.pod), Culprit: word(b.sandbox), Victim: word(a.sandbox), Was: addr, Is: addr,
		At: time.Unix(0, b.at).In(l.zones.of(at, l.files)), Lost: []string{"address"},
		Says: fmt.Sprintf("%s was assigned to pod %s while pod %s still had it", addr, word(b.pod), word(a.pod)),
	}
	for _, n := range []int{a.event, b.event, shows} {
		p := l.events.at(n)
		if p.zoneBy > ZoneOfFile {
			v.Certainty = Likely
		}
		v.Lines = append(v.Lines, Place{File: p.file, Line: p.line})
	}
	v.Lines = tidy(v.Lines)
	if sure == Likely {
		v.NotShown = []string{"whether the first pod still ran after that: no later line is about it; the IPAM garbage collector had released its address, and no line ends the pod"}
	}
	return v
}
