package pick

import (
	"bytes"
	"slices"
)

// maxLearned bounds the IDs that lines may teach.
const maxLearned = 256

// A Matcher finds the lines about what was asked. It learns: the IDs of containers that
// lines about it tell are looked for as well, from then on.
type Matcher struct {
	q       Question
	pod     *podName
	ips     []address
	ids     map[[shortestID]byte][]wantedID
	learned []string
	frozen  bool // nothing more is learned
}

type address struct {
	text []byte
	v6   bool
}

// A wantedID is a container's ID, or a pod's UID, which is found by its last group.
type wantedID struct {
	text  string
	asked bool
}

// Why a line is about it.
type reason uint8

const (
	byNothing reason = iota
	byLearned        // it has an ID that another line told
	byAsked          // it has what was asked for
)

// NewMatcher makes a matcher for a question.
func NewMatcher(q Question) *Matcher {
	m := &Matcher{q: q, pod: newPodName(q.Namespace, q.Pod), ids: map[[shortestID]byte][]wantedID{}}
	for _, ip := range q.Addresses {
		m.ips = append(m.ips, address{[]byte(ip.Unmap().String()), ip.Unmap().Is6()})
	}
	for _, id := range slices.Concat(q.Sandboxes, q.UIDs) {
		m.watchFor(id, true)
	}
	return m
}

// watchFor has an ID looked for.
func (m *Matcher) watchFor(id string, asked bool) bool {
	part := id
	if len(id) == uidLength {
		part = id[uidHead:]
	}
	var key [shortestID]byte
	copy(key[:], part)
	if slices.ContainsFunc(m.ids[key], func(k wantedID) bool { return k.text == id }) {
		return false
	}
	m.ids[key] = append(m.ids[key], wantedID{id, asked})
	return true
}

const (
	uidLength = 36
	uidHead   = 24 // of a UID, before its last group
	idLength  = 64
)

// match tells why a line is about it, and learns from it.
func (m *Matcher) match(line []byte) reason {
	why := byNothing
	named := m.pod.in(line)
	if named || slices.ContainsFunc(m.ips, func(ip address) bool { return hasAddress(line, ip.text, ip.v6) }) {
		why = byAsked
	}
	if why == byNothing && len(m.ids) > 0 {
		why = m.identified(line)
	}
	// An address may stand in the lines of several pods; a pod that is asked for is not.
	if named || why == byAsked && m.pod == nil {
		m.learn(line)
	}
	return why
}

func (m *Matcher) identified(line []byte) (why reason) {
	for start, end := range hexRuns(line) {
		if why = max(why, m.known(line, start, end)); why == byAsked {
			break
		}
	}
	return why
}

// known tells that a run of digits is an ID that is looked for, or as much of it as the line
// has.
func (m *Matcher) known(line []byte, start, end int) reason {
	run := line[start:end]
	why := byNothing
	for _, k := range m.ids[[shortestID]byte(run)] {
		same := len(k.text) == uidLength && isUID(line, start, end) && sameUID(line[start-uidHead:end], k.text)
		if len(k.text) != uidLength {
			n := min(len(run), len(k.text))
			same = string(run[:n]) == k.text[:n]
		}
		switch {
		case same && k.asked:
			return byAsked
		case same:
			why = byLearned
		}
	}
	return why
}

// isUID tells that a run is the last group of a UID. In paths of cgroups its groups are
// joined by something else.
func isUID(line []byte, start, end int) bool {
	if end-start != shortestID || start < uidHead {
		return false
	}
	for i, c := range line[start-uidHead : start] {
		if joint := i == 8 || i == 13 || i == 18 || i == 23; joint != (c == '-' || c == '_') || !joint && !isHex(c) {
			return false
		}
	}
	return true
}

func sameUID(b []byte, uid string) bool {
	return string(bytes.ReplaceAll(b, []byte{'_'}, []byte{'-'})) == uid
}

var digestMark = []byte("sha256:")

// learn takes the IDs of containers from a line, and the UID if it says that it is the
// pod's. The digests of images look like IDs.
func (m *Matcher) learn(line []byte) {
	if m.frozen {
		return
	}
	for start, end := range hexRuns(line) {
		id := ""
		switch {
		case end-start == idLength && !bytes.HasSuffix(line[:start], digestMark):
			id = string(line[start:end])
		case m.pod != nil && isUID(line, start, end) && m.ofPod(line, start-uidHead):
			id = string(bytes.ReplaceAll(line[start-uidHead:end], []byte{'_'}, []byte{'-'}))
		default:
			continue
		}
		if len(m.learned) < maxLearned && m.watchFor(id, false) {
			m.learned = append(m.learned, id)
		}
	}
}

// ofPod tells that the UID at i is said to be the pod's: by a key, or as in NAME_NS(UID).
func (m *Matcher) ofPod(line []byte, i int) bool {
	if before, ok := bytes.CutSuffix(line[:i], []byte{'('}); ok {
		return bytes.HasSuffix(before, m.pod.ns) && bytes.HasSuffix(before[:len(before)-len(m.pod.ns)], append(slices.Clone(m.pod.name), '_'))
	}
	key := keyBefore(line, i)
	return len(key) >= 3 && bytes.EqualFold(key[len(key)-3:], []byte("uid"))
}

// Learned are the IDs and UIDs that lines have told, in the order in which they came up.
func (m *Matcher) Learned() []string { return slices.Clone(m.learned) }

// Full tells that more came up than are looked for.
func (m *Matcher) Full() bool { return len(m.learned) == maxLearned }

// Again is a matcher that looks for all that this one has learned, from the beginning.
func (m *Matcher) Again() *Matcher {
	again := *m
	again.frozen = true
	return &again
}
