package pick

import (
	"bytes"
	"time"
)

// Bounds on what is picked beside the lines that match.
const (
	kinFor     = 5 * time.Second // how long after a matching line its process is listened to
	maxFollows = 64              // lines that a line may be continued on
	maxLife    = 1000            // lines of one file about its program as a whole
)

// A Picker picks the lines of one file, which it is shown in their order: those that
// match, those that continue them, those that the same IPAM process wrote without an ID (they
// tell what was released), and those that begin or trouble the component's life.
type Picker struct {
	m     *Matcher
	clock fileClock
	life  [][]byte

	follows, pids int
	kin           map[string]time.Time // processes that wrote of it, and when
	old           time.Time            // when a line of it was written by a CNI plugin of 2017, which tells no process
}

// troubles are what is of interest to every pod of a node, by component.
var troubles = map[string][][]byte{
	"kubelet":    {[]byte("Kubelet version"), []byte("Started kubelet"), []byte("Starting kubelet"), []byte("Node became not ready"), []byte("kipping pod synchronization")},
	"containerd": {[]byte("starting containerd"), []byte("containerd successfully booted")},
}

// Pick gives a picker for a file of a component. Zone is the node's; nil if it is not known.
func (m *Matcher) Pick(source string, modified time.Time, zone *time.Location) *Picker {
	return &Picker{m: m, clock: fileClock{modified, zone}, life: troubles[source], kin: map[string]time.Time{}}
}

// Wants tells that a line is to be handed out.
func (p *Picker) Wants(line []byte) bool {
	matches := p.m.match(line) != byNothing
	if !matches && p.continues(line) {
		return true
	}
	p.follows = 0
	if !matches && !p.akin(line) && !p.lifes(line) {
		return false
	}
	at, stamped := p.clock.read(line)
	if matches && stamped {
		p.meet(line, at.utc)
	}
	if stamped && !at.within(p.m.q.Since, p.m.q.Until) {
		return false
	}
	p.follows = maxFollows
	return true
}

// continues tells that a line is the rest of one that was picked. Keys and certificates
// take many lines, and are nobody's business.
func (p *Picker) continues(line []byte) bool {
	if p.follows == 0 || len(line) == 0 || line[0] != ' ' && line[0] != '\t' || bytes.Contains(line, []byte("-----BEGIN")) {
		return false
	}
	p.follows--
	return true
}

// meet remembers who wrote a line that matches.
func (p *Picker) meet(line []byte, at time.Time) {
	if pid := bracketPID(line); pid != nil {
		for other, last := range p.kin {
			if at.Sub(last) > kinFor {
				delete(p.kin, other)
			}
		}
		p.kin[string(pid)] = at
		return
	}
	p.old = at
}

// akin tells that a line without an ID is of a process that has just written of it.
func (p *Picker) akin(line []byte) bool {
	if len(p.kin) == 0 && p.old.IsZero() {
		return false
	}
	pid, last := bracketPID(line), p.old
	if pid != nil {
		last = p.kin[string(pid)]
	}
	if last.IsZero() {
		return false
	}
	at, ok := p.clock.read(line)
	switch {
	case !ok:
		return false
	case at.utc.Sub(last).Abs() > kinFor:
		delete(p.kin, string(pid))
		if pid == nil {
			p.old = time.Time{}
		}
		return false
	case pid == nil && bytes.Contains(line, []byte("CNI_CONTAINERID=")):
		p.old = time.Time{} // another call begins
		return false
	}
	return !hasID(line) && (pid != nil || speaksOfIPAM(line))
}

// speaksOfIPAM tells lines of Calico's plugins of 2017, which the kubelet wrote into its own
// log, among all others.
func speaksOfIPAM(line []byte) bool {
	return bytes.Contains(line, []byte("/calico/")) || bytes.Contains(line, []byte("Calico CNI")) || bytes.Contains(line, []byte("addrs for host"))
}

func hasID(line []byte) bool {
	for start, end := range hexRuns(line) {
		if end-start == idLength {
			return true
		}
	}
	return bytes.Contains(line, []byte("Workload="))
}

func (p *Picker) lifes(line []byte) bool {
	for _, phrase := range p.life {
		if bytes.Contains(line, phrase) {
			p.pids++
			return p.pids <= maxLife
		}
	}
	return false
}

// bracketPID is the process in 2026-11-15 13:06:34.037 [INFO][278] …; nil if the line is
// not like that.
func bracketPID(line []byte) []byte {
	const after = len("2026-11-15 13:06:34")
	if len(line) < after+8 || line[4] != '-' || line[10] != ' ' {
		return nil
	}
	rest := line[after:min(len(line), after+32)]
	i := bytes.Index(rest, []byte("]["))
	if i < 0 {
		return nil
	}
	rest = rest[i+2:]
	end := bytes.IndexByte(rest, ']')
	if end <= 0 {
		return nil
	}
	return rest[:end]
}
