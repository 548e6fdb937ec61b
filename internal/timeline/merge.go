package timeline

import (
	"slices"
	"time"
)

// How far apart two lines may be that report the same event: in one file, by two components of
// one node, and by two clocks. lookBack is how many events back a match is searched.
const (
	sameFile  = 100 * time.Millisecond
	sameNode  = time.Second
	otherNode = 2 * time.Second
	lookBack  = 64
)

// merge joins events that report the same: the runtime's log contains a copy of the CNI plugin's
// lines, the kubelet repeats the runtime's errors, and pasted logs contain lines twice. The first
// in order is kept and completed with the fields of the others; also has their lines, by event.
func merge(in []timed) (events []Event, also map[int][]Place) {
	kept := make([]timed, 0, len(in))
	also = map[int][]Place{}
	for _, t := range in {
		if i := duplicateOf(kept, also, &t); i >= 0 {
			complete(&kept[i].e, &t.e)
			if t.e.Place != kept[i].e.Place && !slices.Contains(also[i], t.e.Place) {
				also[i] = append(also[i], t.e.Place)
			}
			continue
		}
		kept = append(kept, t)
	}
	events = make([]Event, len(kept))
	for i := range kept {
		events[i] = kept[i].e
	}
	return events, also
}

// duplicateOf gives the kept event that reports the same as t, or -1.
func duplicateOf(kept []timed, also map[int][]Place, t *timed) int {
	for i := len(kept) - 1; i >= max(0, len(kept)-lookBack); i-- {
		k := &kept[i]
		apart := time.Duration(t.at - k.at)
		if apart > otherNode {
			return -1
		}
		if k.e.Kind != t.e.Kind || k.e.At.IsZero() != t.e.At.IsZero() || !sameSubject(&k.e, &t.e) {
			continue
		}
		inFile := k.e.Place.File == t.e.Place.File || slices.ContainsFunc(also[i], func(p Place) bool { return p.File == t.e.Place.File })
		if inFile && sameInFile(&k.e, &t.e, apart) || !inFile && sameInFiles(&k.e, &t.e, apart) {
			return i
		}
	}
	return -1
}

// sameInFile reports whether two events of one file report the same: then one is a copy of the
// other, in all that it names.
func sameInFile(a, b *Event, apart time.Duration) bool {
	return apart <= sameFile && a.Object == b.Object && a.Address == b.Address && a.Count == b.Count
}

// sameInFiles reports whether two events of different files report the same: neither contradicts
// the other, and only clocks of different nodes may differ by more than sameNode.
func sameInFiles(a, b *Event, apart time.Duration) bool {
	if !agree(a.Object, b.Object) || a.Address.IsValid() && b.Address.IsValid() && a.Address != b.Address {
		return false
	}
	return apart <= sameNode || a.Node != b.Node
}

// sameSubject reports whether both events are about the same sandbox or container, or, where
// neither names one, the same pod.
func sameSubject(a, b *Event) bool {
	switch {
	case a.Sandbox != "" && b.Sandbox != "":
		return a.Sandbox == b.Sandbox && (a.Container == b.Container || !ofContainer(a.Kind) && agree(a.Container, b.Container))
	case a.Container != "" && b.Container != "":
		return a.Container == b.Container
	case a.Sandbox+a.Container+b.Sandbox+b.Container == "":
		return a.Pod == b.Pod && agree(a.UID, b.UID) && (a.Pod != "" || a.Node == b.Node)
	default:
		return a.UID != "" && a.UID == b.UID && a.Place.File != b.Place.File
	}
}

// ofContainer reports whether a kind concerns a single container; the pause container is one.
func ofContainer(k Kind) bool {
	return k == ContainerStarted || k == ContainerDied || k == ContainerKillFailed || k == ExecFailed
}

// agree reports whether two values are equal or one of them is not known.
func agree(a, b string) bool { return a == b || a == "" || b == "" }

// complete fills empty fields of e from the other event.
func complete(e, other *Event) {
	fill := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	fill(&e.Node, other.Node)
	fill(&e.UID, other.UID)
	fill(&e.Sandbox, other.Sandbox)
	fill(&e.Container, other.Container)
	fill(&e.Device, other.Device)
	fill(&e.Object, other.Object)
	fill(&e.Note, other.Note)
	if !e.Address.IsValid() {
		e.Address = other.Address
	}
	e.Count = max(e.Count, other.Count)
}
