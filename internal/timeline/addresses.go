package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// A holding is one sandbox being given an address.
type holding struct {
	address, pod, sandbox uint32
	at                    int64
	event                 int
}

// An end is what is known of a sandbox besides its ADD.
type end struct {
	asked int64 // when its node first spoke of its end, or the pod's deletion was asked for
	freed int   // the event by which the collector freed what it had, 0 if none
	alive int64 // when it was last seen at work
	shows int   // the event that shows it
}

// JudgeAddresses finds addresses that were given to another pod while the first still
// had it: across stories, so that no single one can tell.
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
		case e.alive > late:
			out = append(out, l.shared(a, b, e.shows, Proven))
		case e.freed != 0 && l.events.at(e.freed).at < b.at:
			out = append(out, l.shared(a, b, e.freed, Likely))
		}
	}
	slices.SortStableFunc(out, func(a, b Verdict) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Pod, b.Pod)) })
	return out
}

// holdings gives who was given which address when, once per sandbox, and what is known
// of every sandbox's end.
func (l *Log) holdings(x *index) ([]holding, map[uint32]end) {
	var given []holding
	ends := map[uint32]end{}
	type hold struct{ address, sandbox uint32 }
	seen := map[hold]bool{}
	for n := l.events.first; n < l.events.end; n++ {
		p := l.events.at(n)
		s := &x.subjects[p.subject]
		if s.sandbox == 0 || p.at == noTime {
			continue
		}
		e, ok := ends[s.sandbox]
		if !ok {
			e = end{asked: 1<<63 - 1, alive: noTime}
		}
		switch {
		case p.kind == AddEnd || p.kind == AddressAssigned:
			if k := (hold{p.address, s.sandbox}); p.address != 0 && !seen[k] {
				seen[k] = true
				given = append(given, holding{p.address, s.pod, s.sandbox, p.at, n})
			}
		case p.kind == CollectorReleased:
			e.freed = n
		case slices.Contains(ending, p.kind), slices.Contains(failed, p.kind),
			slices.Contains(delDid, p.kind) && (p.kind == EndpointDeleted || onNode(l.sources[p.source])):
			e.asked = min(e.asked, p.at)
		}
		switch p.kind {
		case PodSeen, ContainerStarted, DelBegin, PodTerminating, PodKilled:
			if p.at > e.alive {
				e.alive, e.shows = p.at, n
			}
		default:
		}
		ends[s.sandbox] = e
	}
	return given, ends
}

// shared makes the verdict that b was given what a still had, as event shows tells.
func (l *Log) shared(a, b holding, shows int, sure Certainty) Verdict {
	word := func(n uint32) string { return string(l.texts.get(n)) }
	addr, at := l.addresses.value(a.address), l.events.at(b.event)
	v := Verdict{
		Cause: AddressMoved, Certainty: sure, Pod: word(a.pod), Culprit: word(b.sandbox), Victim: word(a.sandbox), Was: addr, Is: addr,
		At: time.Unix(0, b.at).In(l.zones.of(at, l.files)), Lost: []string{"address"},
		Says: fmt.Sprintf("%s was given to %s while %s still had it", addr, word(b.pod), word(a.pod)),
	}
	for _, n := range []int{a.event, b.event, shows} {
		p := l.events.at(n)
		v.Lines = append(v.Lines, Place{File: p.file, Line: p.line})
	}
	v.Lines = tidy(v.Lines)
	if sure == Likely {
		v.NotShown = []string{"the first pod at work after that: no line of it is later; the collector had freed its address, and nothing had ended it"}
	}
	return v
}
