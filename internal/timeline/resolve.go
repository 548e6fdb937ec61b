package timeline

// minID is how much of a container ID tells it from all others.
const minID = 12

// resolver finds out whom events are about that do not name a pod: another event knows
// the pod of the same sandbox, container or UID.
type resolver struct {
	log       *Log
	full      map[[minID]byte]uint32 // the longest spelling of an ID; zero if two IDs begin so
	sandboxes map[uint32]bool
	podOf     map[uint32]uint32 // by sandbox, container or UID: their texts never meet
	uidOf     map[uint32]uint32 // by sandbox
	homeOf    map[uint32]uint32 // sandbox by container
}

// resolve gives every subject as all events together know it, by its number.
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
	for n := range all { // the kubelet calls a sandbox a container like the others
		if s := &all[n]; s.sandbox == 0 && s.container != 0 && r.sandboxes[s.container] {
			s.sandbox, s.container = s.container, 0
		}
	}
	r.chain(all)
	for range 2 { // a container may know its sandbox, and only that its pod
		for n := range all {
			r.learn(&all[n])
		}
		for n := range all {
			r.fill(&all[n])
		}
	}
	return all
}

// spell remembers the longest spelling of an ID.
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
