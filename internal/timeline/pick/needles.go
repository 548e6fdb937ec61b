package pick

import (
	"bytes"
	"strings"
	"time"
)

// Needles are texts of which every line about the question has at least one, and those of
// the lines that are of interest to every pod: what a journal is searched for.
func (q *Question) Needles() []string {
	var out []string
	if q.Pod != "" {
		out = append(out, q.Pod)
		if doubled := strings.ReplaceAll(q.Pod, "-", "--"); doubled != q.Pod {
			out = append(out, doubled)
		}
	}
	for _, ip := range q.Addresses {
		out = append(out, ip.Unmap().String())
	}
	for _, id := range q.Sandboxes {
		out = append(out, id[:min(shortestID, len(id))])
	}
	out = append(out, q.UIDs...)
	for _, source := range []string{"containerd", "kubelet"} {
		for _, phrase := range troubles[source] {
			out = append(out, string(phrase))
		}
	}
	return append(out, "/calico/", "Calico CNI", "addrs for host")
}

// Text calls each with the lines of a complete text that are about the question, in their
// order, and their numbers, from one. Timestamps without a zone are in UTC. It gives the
// number of lines.
func (q Question) Text(source string, modified time.Time, text []byte, each func(number uint32, line []byte)) uint32 {
	m := NewMatcher(q)
	var picked map[uint32][]byte
	var lines uint32
	for range 2 { // IDs may appear after lines that have nothing else
		p := m.Pick(source, modified, time.UTC)
		picked, lines = map[uint32][]byte{}, 0
		for line := range bytes.Lines(text) {
			lines++
			if line = bytes.TrimRight(line, "\r\n"); p.Wants(line) {
				picked[lines] = line
			}
		}
		if len(m.learned) == 0 {
			break
		}
		m = m.Again()
	}
	for n := uint32(1); n <= lines; n++ {
		if line, ok := picked[n]; ok {
			each(n, line)
		}
	}
	return lines
}
