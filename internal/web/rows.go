package web

import (
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A row is a finding as pages list it.
type row struct {
	*finding.Finding
	As string // folded or suppressed; empty if neither
}

// seen are the findings that pass and that who asks may see, of all lists of the report, and how many they may not see.
func (l *look) seen(pass func(*finding.Finding) bool) (out []row, hidden int) {
	for _, of := range []struct {
		fs []finding.Finding
		as string
	}{{l.Findings, ""}, {l.Unconfirmed, ""}, {l.Folded, "folded"}, {l.Suppressed, "suppressed"}} {
		for i := range of.fs {
			switch f := &of.fs[i]; {
			case !pass(f):
			case l.sees(f):
				out = append(out, row{f, of.as})
			default:
				hidden++
			}
		}
	}
	return out, hidden
}

// A section is a page of the findings about something.
type section struct {
	Rows   []row
	Pages  pages
	Hidden int
}

// section is the part of those rows that a query for a page asks for.
func (l *look) section(page string, all []row, hidden int) section {
	p := paged(len(all), page, l.q)
	return section{all[p.From:p.To], p, hidden}
}

// nodesOf are the nodes that a finding is on, that it is about, and that pods are on that it is about.
func (l *look) nodesOf(f *finding.Finding) (out []string) {
	add := func(name string) {
		if n := l.View.NodeByName(name); n != nil && !slices.Contains(out, n.Name) {
			out = append(out, n.Name)
		}
	}
	add(f.Node)
	for _, r := range append([]model.Ref{f.Subject}, f.About...) {
		switch r.Kind {
		case model.KindNode:
			add(r.Name)
		case model.KindPod:
			if p := l.View.PodByName(splitPod(r.Name)); p != nil {
				add(p.Node)
			}
		default:
		}
	}
	return out
}
