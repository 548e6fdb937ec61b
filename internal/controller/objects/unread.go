package objects

import (
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// unread is what a report could not have found: detectors that did not run, and tables that were not read
// of which a detector reads a part.
type unread struct {
	code   map[finding.Code]string            // why a detector did not run
	onNode map[finding.Code]map[string]string // why not on these nodes
}

func unreadOf(r *audit.Report) unread {
	u := unread{map[finding.Code]string{}, map[finding.Code]map[string]string{}}
	for _, s := range r.Skipped {
		switch {
		case s.NotApplicable:
		case len(s.Nodes) == 0:
			u.add(s.Code, "", s.Why)
		default:
			for _, n := range s.Nodes {
				u.add(s.Code, n, s.Why)
			}
		}
	}
	for _, gap := range r.Gaps {
		for _, d := range detect.All {
			if reads(d, gap.Table) {
				u.add(d.Code, gap.Node, "not read: "+gap.Table.String()+": "+gap.Reason)
			}
		}
	}
	return u
}

// add keeps the first reason by name: the text must not change from one report to the next.
func (u *unread) add(c finding.Code, node, why string) {
	if why == "" {
		why = "not read"
	}
	if node == "" {
		if old := u.code[c]; old == "" || why < old {
			u.code[c] = why
		}
		return
	}
	if u.onNode[c] == nil {
		u.onNode[c] = map[string]string{}
	}
	if old := u.onNode[c][node]; old == "" || why < old {
		u.onNode[c][node] = why
	}
}

// reads tells whether a detector reads a table, or what is derived from it.
func reads(d *detect.Detector, lost model.Table) bool {
	return slices.ContainsFunc(slices.Concat(d.Each, d.Needs, d.Partly, d.Uses), func(t model.Table) bool {
		switch t {
		case model.Allocations:
			return lost == model.Blocks || lost == t
		case model.Addresses:
			return lost == model.Pods || lost == t
		default:
			return lost == t || lost == t.Base()
		}
	})
}

// of tells why a finding that is not in the report may still be there; empty if it is gone.
func (u *unread) of(c finding.Code, nodes []string) string {
	if why := u.code[c]; why != "" {
		return why
	}
	var out string
	for n, why := range u.onNode[c] {
		if (len(nodes) == 0 || slices.Contains(nodes, n)) && (out == "" || why < out) {
			out = why
		}
	}
	return out
}

// ran tells that a detector judged all that there is.
func (u *unread) ran(c finding.Code) bool { return u.code[c] == "" && len(u.onNode[c]) == 0 }
