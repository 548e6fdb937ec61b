package timeline

// minID is how many characters of a container ID identify it.
const minID = 12

// resolver attributes events that do not name a pod: another event names the pod of the same
// sandbox, container or UID. All maps hold numbers of Log.texts; the first value learned for a
// key stays.
type resolver struct {
	log       *Log
	full      map[[minID]byte]uint32 // the longest form of an ID by its first minID bytes; zero if two different IDs share them
	sandboxes map[uint32]bool
	podOf     map[uint32]uint32 // by sandbox, container or UID: no text is used for two of these
	uidOf     map[uint32]uint32 // by sandbox
	homeOf    map[uint32]uint32 // sandbox by container
}

// resolve gives every subject, by its number, with the fields that other subjects add. Order:
// short IDs become full ones, containers that are sandboxes become sandboxes, chain, then two
// rounds of learn and fill, because a container may only lead to its sandbox and that to its pod.
func (l *Log) resolve() []subject {
	r := &resolver{
		log: l, full: map[[minID]byte]uint32{}, sandboxes: map[uint32]bool{},
		podOf: map[uint32]uint32{}, uidOf: map[uint32]uint32{}, homeOf: map[uint32]uint32{},
	}
	all := make([]subject, l.subjects.values.end)
	for n := range all {
		all[n] = l.subjects.value(uint32(n))
		r.spell(all[n].sandbox)
		r.spell(all[n].container)
	}
	for n := range all {
		all[n].sandbox, all[n].container = r.fullID(all[n].sandbox), r.fullID(all[n].container)
		r.sandboxes[all[n].sandbox] = true
	}
	for n := range all { // some kubelet lines call a sandbox a container
		if s := &all[n]; s.sandbox == 0 && s.container != 0 && r.sandboxes[s.container] {
			s.sandbox, s.container = s.container, 0
		}
	}
	r.chain(all)
	for range 2 { // container to sandbox, then sandbox to pod
		for n := range all {
			r.learn(&all[n])
		}
		for n := range all {
			r.fill(&all[n])
		}
	}
	return all
}

// spell remembers the longest form of an ID.
func (r *resolver) spell(id uint32) {
	key, text, ok := r.key(id)
	if !ok {
		return
	}
	have, seen := r.full[key]
	switch {
	case !seen:
		r.full[key] = id
	case have == 0 || have == id:
	default:
		other := r.log.texts.get(have)
		short, long := text, other
		if len(short) > len(long) {
			short, long = long, short
		}
		if string(long[:len(short)]) != string(short) {
			r.full[key] = 0
		} else if len(text) > len(other) {
			r.full[key] = id
		}
	}
}

func (r *resolver) fullID(id uint32) uint32 {
	if key, _, ok := r.key(id); ok && r.full[key] != 0 {
		return r.full[key]
	}
	return id
}

func (r *resolver) key(id uint32) (key [minID]byte, text []byte, ok bool) {
	text = r.log.texts.get(id)
	if len(text) < minID {
		return key, text, false
	}
	copy(key[:], text)
	return key, text, true
}

func (r *resolver) learn(s *subject) {
	know := func(m map[uint32]uint32, key, value uint32) {
		if key != 0 && value != 0 && m[key] == 0 {
			m[key] = value
		}
	}
	know(r.podOf, s.sandbox, s.pod)
	know(r.podOf, s.container, s.pod)
	know(r.podOf, s.uid, s.pod)
	know(r.uidOf, s.sandbox, s.uid)
	know(r.homeOf, s.container, s.sandbox)
}

func (r *resolver) fill(s *subject) {
	if s.sandbox == 0 && s.container != 0 {
		s.sandbox = r.homeOf[s.container]
	}
	if s.uid == 0 && s.sandbox != 0 {
		s.uid = r.uidOf[s.sandbox]
	}
	for _, by := range [...]uint32{s.sandbox, s.container, s.uid} {
		if s.pod == 0 && by != 0 {
			s.pod = r.podOf[by]
		}
	}
}
