package timeline

import (
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/finding"
)

// JudgeNodes finds what concerns no known pod: credentials in lines that belong to no pod, and
// containers that cannot be removed, and sandboxes whose DEL fails, whose pod no line names.
func JudgeNodes(l *Log) []Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	type key struct {
		cause  Cause
		node   uint32
		object string
	}
	x, found := l.indexed(), map[key]*Verdict{}
	for n := l.events.first; n < l.events.end; n++ {
		p := l.events.at(n)
		s := &x.subjects[p.subject]
		k := key{node: s.node}
		switch {
		case s.pod != 0:
			continue
		case p.kind == CredentialSeen:
			k.cause = Credential
		case p.kind == MountBusy:
			k.cause, k.object = TeardownBlocked, string(l.texts.get(p.object))
		default:
			continue
		}
		v := found[k]
		if v == nil {
			words := l.name(*s)
			e := l.unpack(p, &words)
			v = &Verdict{Cause: k.cause, Certainty: Proven, Node: e.Node, At: e.At, Culprit: e.Container, Error: e.Note}
			found[k] = v
		}
		v.Count++
		if p.at != noTime {
			v.Until = time.Unix(0, p.at).In(l.zones.of(p, l.files))
		}
		if len(v.Lines) < maxContext {
			v.Lines = append(v.Lines, Place{File: p.file, Line: p.line})
		}
	}
	out := make([]Verdict, 0, len(found))
	for k, v := range found {
		if v.Cause == Credential {
			v.Says, v.Error = fmt.Sprintf("%s: %d lines that belong to no known pod contain %s; it is not shown", finding.PL9002, v.Count, orSecret(v.Error)), ""
		} else {
			v.Says = fmt.Sprintf("by a mount in use elsewhere: %s", orSome(k.object))
			v.NotShown = []string{"which pod the container belongs to: no line names it"}
		}
		v.Lines = tidy(v.Lines)
		out = append(out, *v)
	}
	slices.SortFunc(out, func(a, b Verdict) int { return slices.Compare([]string{a.Node, a.Says}, []string{b.Node, b.Says}) })
	return append(out, l.judgeNameless(x)...)
}
