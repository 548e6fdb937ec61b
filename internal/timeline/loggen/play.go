package loggen

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// A written line is sorted into its file later.
type written struct {
	file    int
	at      int64 // by the clock of its file's owner
	text    string
	shows   string // the line as recorded, by which scenes find it
	signal  bool   // it belongs to an incident
	dropped bool
}

// values are a scene's values for the roles of a template.
type values map[string]string

// with gives the values with more of them.
func (v values) with(more values) values {
	out := maps.Clone(v)
	maps.Copy(out, more)
	return out
}

// play writes a template's lines with the times from a given time on, on a node. It gives the
// numbers of the lines. Lines that contain one of the words are omitted.
func (h *History) play(t *template, n *Node, at time.Duration, v values, without ...string) []int {
	v = maps.Clone(v)
	if v == nil {
		v = values{}
	}
	v["node"] = n.Name
	if _, ok := v["block"]; !ok {
		v["block"] = n.block
	}
	if ns, pod := v["namespace"], v["pod"]; pod != "" {
		v["device"] = device(ns, pod)
	}
	spelled := make([]string, len(t.slots))
	var out []int
	for _, p := range t.parts {
		file, skew := h.file(n, p.file)
		move := t.move(h.begin + int64(at) + skew)
		for i := range p.lines {
			l := &p.lines[i]
			if holds(l.text, without) {
				continue
			}
			out = append(out, len(h.lines))
			h.lines = append(h.lines, written{file: file, at: l.at + move - t.zone, text: h.write(t, l, n, v, spelled, move), shows: l.text, signal: h.signal})
		}
	}
	return out
}

// move gives by how much a template's stamps are moved for it to begin at a moment. Syslog
// cuts fractions off: lines that have both stamps agree only if whole seconds are moved.
func (t *template) move(to int64) int64 {
	by := to + t.zone - t.base
	if t.zone != 0 {
		by -= by % int64(time.Second)
	}
	return by
}

func (h *History) missing(n *Node, role string) string {
	switch sort(role) {
	case "block":
		return n.block
	case "kubelet":
		return n.kubelet
	case "node", "other":
		return n.Name
	case "address":
		return n.spare
	default:
		return h.fresh(role)
	}
}

// write assembles a line. Values that the scene does not set are generated and kept for the next
// line.
func (h *History) write(t *template, l *line, n *Node, v values, spelled []string, move int64) string {
	b := make([]byte, 0, len(l.text)+64)
	for i := range l.pieces {
		switch p := &l.pieces[i]; {
		case p.look != nil:
			b = time.Unix(0, p.at+move).UTC().AppendFormat(b, p.look.form)
		case p.slot >= 0:
			if spelled[p.slot] == "" {
				spelled[p.slot] = h.spell(&t.slots[p.slot], n, v)
			}
			b = append(b, spelled[p.slot]...)
		default:
			b = append(b, p.text...)
		}
	}
	return string(b)
}

func (h *History) spell(s *slot, n *Node, v values) string {
	for _, role := range [...]string{s.role, s.of} {
		if _, ok := v[role]; !ok && role != "" {
			v[role] = h.missing(n, role)
		}
	}
	return s.spell(v)
}

func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
