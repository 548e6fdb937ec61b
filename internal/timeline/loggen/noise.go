package loggen

import "time"

// noise adds other lines of the same components until those of incidents are as few as
// planned. Lines of ordinary pods count as noise.
func (h *History) noise() {
	signal := 0
	for i := range h.lines {
		if h.lines[i].signal {
			signal++
		}
	}
	want := max(h.Lines, int(float64(signal)/(1-h.Noise)*1.02)) - len(h.lines) + 1
	var old, today []*Node
	for _, n := range h.Nodes {
		if n.Old {
			old = append(old, n)
		} else {
			today = append(today, n)
		}
	}
	for i := range max(want, 20*len(h.Nodes)) {
		nodes := today
		if i%8 == 0 && len(old) > 0 {
			nodes = old
		}
		h.noiseLine(nodes[h.IntN(len(nodes))])
	}
}

// noiseLine writes one line of a node's, or of the control plane's, at any time.
func (h *History) noiseLine(n *Node) {
	of := h.templates["noise"]
	for {
		t := of[h.IntN(len(of))]
		if (t.zone != 0) != n.Old {
			continue
		}
		p := &t.parts[h.IntN(len(t.parts))]
		l := &p.lines[h.IntN(len(p.lines))]
		file, skew := h.file(n, p.file)
		at := h.begin + h.Int64N(int64(h.Lasts)) + skew
		move := t.move(at + t.base - l.at)
		text := h.write(t, l, n, values{"node": n.Name, "node2": n.Name, "node3": n.Name}, make([]string, len(t.slots)), move)
		h.lines = append(h.lines, written{file: file, at: l.at + move - t.zone, text: text})
		return
	}
}

// Shares counts a history's lines by kind.
type Shares struct {
	Lines, Signal, Dropped int
	Lasts                  time.Duration
}

// Shares counts the lines.
func (h *History) Shares() Shares {
	s := Shares{Lines: len(h.lines), Lasts: h.Lasts}
	for i := range h.lines {
		if h.lines[i].signal {
			s.Signal++
		}
		if h.lines[i].dropped {
			s.Dropped++
		}
	}
	return s
}
