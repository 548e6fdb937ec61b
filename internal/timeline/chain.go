package timeline

import "time"

// chainedKill is the longest time between the kubelet's lines about one failed kill.
const chainedKill = 50 * time.Millisecond

// A failedKill is the last line of a file about a container that could not be killed; several
// means that it was not the only one within chainedKill.
type failedKill struct {
	container uint32
	at        int64
	several   bool
}

// chain learns the pod of a container that could not be killed: the kubelet first writes a line
// that names the container without its pod, and then one that names the pod without its
// container. This is used only if exactly one container failed within chainedKill in that file.
func (r *resolver) chain(all []subject) {
	l, last := r.log, map[uint16]failedKill{}
	for n := l.events.first; n < l.events.end; n++ {
		p := l.events.at(n)
		s := &all[p.subject]
		switch p.kind {
		case ContainerKillFailed:
			if s.pod != 0 || s.uid != 0 || s.container == 0 || p.at == noTime {
				continue
			}
			k, ok := last[p.file]
			near := ok && p.at-k.at <= int64(chainedKill)
			last[p.file] = failedKill{s.container, p.at, near && (k.several || k.container != s.container)}
		case PodKillFailed:
			if k, ok := last[p.file]; ok && s.pod != 0 {
				r.podOfKill(k, s, p.at)
			}
		default:
		}
	}
}

// podOfKill gives the container the pod of a failure at this time, if it can be no other's.
func (r *resolver) podOfKill(k failedKill, s *subject, at int64) {
	if k.several || at < k.at || at-k.at > int64(chainedKill) || r.podOf[k.container] != 0 {
		return
	}
	r.podOf[k.container] = s.pod
	if s.uid != 0 {
		r.uidOf[k.container] = s.uid
	}
}
