package timeline

import "time"

// chainedKill is the longest time between the kubelet's lines about one failed kill.
const chainedKill = 50 * time.Millisecond

// chain learns the pod of a container that could not be killed: the kubelet first writes a line
// that names the container without its pod, and then one that names the pod without its
// container. This is used only if exactly one container failed within chainedKill in that file.
func (r *resolver) chain(all []subject) {
	type kill struct {
		container uint32
		at        int64
		several   bool
	}
	l, last := r.log, map[uint16]kill{}
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
			last[p.file] = kill{s.container, p.at, near && (k.several || k.container != s.container)}
		case PodKillFailed:
			if k, ok := last[p.file]; ok && s.pod != 0 && !k.several && p.at-k.at >= 0 && p.at-k.at <= int64(chainedKill) && r.podOf[k.container] == 0 {
				r.podOf[k.container] = s.pod
				if s.uid != 0 {
					r.uidOf[k.container] = s.uid
				}
			}
		default:
		}
	}
}
