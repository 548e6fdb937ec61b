package timeline

import (
	"fmt"
	"slices"
	"time"
)

// An Unexplained is something that happened to a sandbox in use, of which no line shows the reason: too little for a verdict, too
// much for silence.
type Unexplained struct {
	Pod   string    `json:"pod"`            // NAMESPACE/NAME
	Node  string    `json:"node,omitempty"` // on which it happened
	At    time.Time `json:"at,omitzero"`    // when it happened
	Says  string    `json:"says"`           // what is not known, in one line of text
	Lines []Place   `json:"-"`              // that it rests on, sorted
}

// unexplained gives what the verdicts do not cover: removals without a call, releases of what another sandbox may have had, and
// calls that the files end in.
func unexplained(s *Story, instances []*instance) []Unexplained {
	all := slices.Concat(withoutCall(s, instances), keptAndReleased(s, instances), cutOff(s, instances))
	return slices.DeleteFunc(all, func(u Unexplained) bool {
		return slices.ContainsFunc(s.Verdicts, func(v Verdict) bool {
			return slices.ContainsFunc(u.Lines, func(p Place) bool { return v.Cause != Credential && slices.Contains(v.Lines, p) })
		})
	})
}

// takings are the kinds of events that remove something.
var takings = []Kind{EndpointDeleted, AddressReleased, HandleReleased}

// withoutCall finds removals by a call that no line shows, from a sandbox that no line ends, and removals of which it is not known
// whose ADD they concern.
func withoutCall(s *Story, instances []*instance) []Unexplained {
	var out []Unexplained
	reported := map[int]bool{} // by ADD
	for d := range s.Events {
		e := &s.Events[d]
		if !slices.Contains(takings, e.Kind) {
			continue
		}
		var add int
		var says string
		if b := s.inUse(d, instances); b != nil {
			if !onNode(e.Source) && !s.covers(b, e.At) {
				continue
			}
			add, says = b.add, fmt.Sprintf("which call removed the %s at %s, %s after the ADD of %s: no line shows it, and none ends that sandbox",
				removed[e.Kind], clock(e.At), lasted(e.At.Sub(s.Events[b.add].At)), b.name())
		} else if add = s.namelessAdd(d, instances); add >= 0 {
			says = fmt.Sprintf("whose %s was removed at %s: %s before, an ADD ended. No line shows its sandbox, and no line ends the pod",
				removed[e.Kind], clock(e.At), lasted(e.At.Sub(s.Events[add].At)))
		}
		if add >= 0 && !reported[add] {
			reported[add] = true
			out = append(out, Unexplained{Pod: s.Pod, Node: s.Events[add].Node, At: e.At, Says: says, Lines: tidy(s.lines(add, d))})
		}
	}
	return out
}

// inUse returns the newest sandbox that was added before event d, if no line has the sandbox of d and no line ends the one found;
// else nil.
func (s *Story) inUse(d int, instances []*instance) *instance {
	if s.Events[d].Sandbox != "" {
		return nil // its own call
	}
	var b *instance
	for _, o := range instances {
		if o.ID != "" && o.add >= 0 && o.add < d && s.before(o.add, d) != unknown && agree(o.Node, s.Events[d].Node) && (b == nil || o.add > b.add) {
			b = o
		}
	}
	ends := slices.Concat(ending, delDid, failed)
	if b == nil || s.any(b, 0, ends...) >= 0 || s.shownApart(b, ends...) || s.podEnds(b.add, b.UID) {
		return nil
	}
	return b
}

// namelessAdd returns the last ADD before event d, if no line has its sandbox and no line ends the pod; else -1. There is none where
// any sandbox has an ADD: the removal may be of that one.
func (s *Story) namelessAdd(d int, instances []*instance) int {
	if !onNode(s.Events[d].Source) || slices.ContainsFunc(instances, func(o *instance) bool { return o.add >= 0 || s.any(o, 0, ending...) >= 0 }) {
		return -1
	}
	for i := d - 1; i >= 0; i-- {
		e := &s.Events[i]
		if (e.Kind == AddEnd || e.Kind == EndpointWritten) && onNode(e.Source) && agree(e.Node, s.Events[d].Node) && s.before(i, d) != unknown {
			if e.Sandbox != "" || s.podEnds(i, e.UID) {
				return -1
			}
			return i
		}
	}
	return -1
}

// podEnds reports whether a line after an ADD that names only the pod says that it ends, or that a DEL of it was called.
func (s *Story) podEnds(add int, uid string) bool {
	return slices.ContainsFunc(s.Events[add+1:], func(e Event) bool {
		return e.Sandbox == "" && agree(e.UID, uid) && (slices.Contains(ending, e.Kind) || e.Kind == DelBegin || e.Kind == DelEnd)
	})
}

var removed = map[Kind]string{EndpointDeleted: "endpoint", AddressReleased: "address", HandleReleased: "handle"}

// keptAndReleased finds DELs that left the endpoint because another sandbox has it, and released something under a name that is not
// their own: that sandbox may have had it.
func keptAndReleased(s *Story, instances []*instance) []Unexplained {
	var out []Unexplained
	for _, a := range instances {
		kept := s.any(a, 0, EndpointKept)
		if a.ID == "" || kept < 0 {
			continue
		}
		for _, d := range a.events {
			e := &s.Events[d]
			if e.Kind != AddressReleased && e.Kind != HandleReleased || e.Object == "" || names(e.Object, a) || e.At.Sub(s.Events[kept].At).Abs() > sameCall {
				continue
			}
			out = append(out, Unexplained{
				Pod: s.Pod, Node: a.Node, At: e.At, Lines: tidy(s.lines(kept, d)),
				Says: fmt.Sprintf("whose %s the DEL of %s removed with handle %s, which is not its own: the endpoint belonged to another sandbox, and no line shows its ADD",
					removed[e.Kind], a.name(), e.Object),
			})
			break
		}
	}
	return out
}

// cutOff finds DELs of a sandbox that began while a newer one had the name, and whose end no line shows because the file ends.
func cutOff(s *Story, instances []*instance) []Unexplained {
	var out []Unexplained
	for _, a := range instances {
		if a.ID == "" {
			continue
		}
		last := -1
		for _, i := range a.events {
			if slices.Contains(slices.Concat(delDid, failed, delEnded), s.Events[i].Kind) {
				last = i
			}
		}
		if last < 0 || slices.Contains(slices.Concat(failed, delEnded, []Kind{ReleaseNothing}), s.Events[last].Kind) || !s.fileEndsIn(last) {
			continue // a release that found nothing comes last
		}
		if b := s.holderAt(a, last, instances); b != nil {
			e := &s.Events[last]
			out = append(out, Unexplained{
				Pod: s.Pod, Node: a.Node, At: e.At, Lines: tidy(s.lines(last, b.add)),
				Says: fmt.Sprintf("what the DEL of %s removed after %s, while %s had the name: the file ends in it", a.name(), clock(e.At), b.name()),
			})
		}
	}
	return out
}

// fileEndsIn reports whether the files with an event end before its call could have.
func (s *Story) fileEndsIn(event int) bool {
	return !slices.ContainsFunc(s.Places(event), func(p Place) bool {
		end, ok := s.cover.Ends[p.File]
		return !ok || end.Sub(s.Events[event].At) > sameCall
	})
}
