package agent

import (
	"bytes"
	"slices"
	"strings"
	"time"
)

// Needles are texts of which every line about the question has at least one, and those of
// the lines that are of interest to every pod: what a journal is searched for.
func (q *LogQuestion) Needles() []string {
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

// With is the question with what an agent's answer has taught: IDs and UIDs.
func (q LogQuestion) With(learned []string) LogQuestion {
	q.UIDs, q.Sandboxes = slices.Clone(q.UIDs), slices.Clone(q.Sandboxes)
	for _, id := range learned {
		switch {
		case podUID.MatchString(id) && len(q.UIDs) < maxLogIDs && !slices.Contains(q.UIDs, id):
			q.UIDs = append(q.UIDs, id)
		case logID.MatchString(id) && !podUID.MatchString(id) && len(q.Sandboxes) < maxLogIDs && !slices.Contains(q.Sandboxes, id):
			q.Sandboxes = append(q.Sandboxes, id)
		}
	}
	return q
}

// PickJournal picks from a text that no agent has picked from, such as what a kubelet hands
// out of journald, with the stamps in UTC. Nothing in it is scrubbed yet: that is done here,
// line by line. Numbers are those of the text.
func (q LogQuestion) PickJournal(name, source string, taken time.Time, text []byte, scrub func(dst, b []byte) []byte) LogText {
	out := LogText{LogFile: LogFile{Name: name, Source: source, Modified: taken, Bytes: int64(len(text))}}
	m := NewLogMatcher(q)
	var picked map[uint32][]byte
	for range 2 { // IDs may come up after lines that have nothing else
		p := m.Pick(source, taken, time.UTC)
		picked = map[uint32][]byte{}
		out.Lines = 0
		for line := range bytes.Lines(text) {
			out.Lines++
			if line = bytes.TrimRight(line, "\r\n"); p.Wants(line) {
				picked[out.Lines] = line
			}
		}
		if len(m.learned) == 0 {
			break
		}
		m = m.Again()
	}
	for n := uint32(1); n <= out.Lines; n++ {
		if line, ok := picked[n]; ok {
			out.add(n, string(scrub(nil, line)))
			out.Handed++
		}
	}
	return out
}
