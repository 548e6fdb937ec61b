package detect

import (
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// unreadNodes records on which nodes a detector did not run, and which tables were missing.
type unreadNodes struct {
	nodes  map[string]bool
	tables map[model.Table]bool
	known  map[string]bool // by node: what sees has answered
	last   string          // the node of the last answer: subjects come node by node
	lastOK bool
}

// sees reports whether the node tables that the detector needs were read completely on the
// subject's node. A subject without a node is skipped by detectors that need node tables.
func (d *Detector) sees(v *model.View, t model.Table, row int32, b *unreadNodes) bool {
	if !slices.ContainsFunc(d.Needs, model.Table.OfNode) {
		return true
	}
	node := v.NodeOf(t, row)
	if node == "" {
		return false
	}
	if node == b.last {
		return b.lastOK
	}
	ok, known := b.known[node]
	if !known {
		if b.known == nil {
			b.known = map[string]bool{}
		}
		ok = d.seesAll(v, node, b)
		b.known[node] = ok
	}
	b.last, b.lastOK = node, ok
	return ok
}

// seesAll tells whether all that the detector needs of a node was seen, and notes what was not.
func (d *Detector) seesAll(v *model.View, node string, b *unreadNodes) bool {
	ok := true
	for _, need := range d.Needs {
		if !need.OfNode() {
			continue
		}
		if v.State(need, node).Seen() {
			continue
		}
		ok = false
		if v.State(need, node) == model.Unread {
			continue // no agent is expected on this node
		}
		b.note(node, need)
	}
	return ok
}

// lacksSubjects notes the nodes of which the subjects themselves were not read: nobody can tell how
// many there are.
func (d *Detector) lacksSubjects(v *model.View, b *unreadNodes) {
	for _, t := range d.Each {
		if !t.OfNode() {
			continue
		}
		for _, c := range v.Coverage() {
			if c.Table == t && c.Node != "" && c.State != model.Unread && !c.State.Seen() {
				b.note(c.Node, t)
			}
		}
	}
}

func (b *unreadNodes) note(node string, t model.Table) {
	if b.nodes == nil {
		b.nodes, b.tables = map[string]bool{}, map[model.Table]bool{}
	}
	b.nodes[node], b.tables[t] = true, true
}

func (b *unreadNodes) skip(d *Detector) (Skip, bool) {
	if len(b.nodes) == 0 {
		return Skip{}, false
	}
	var tables []string
	for _, t := range slices.Sorted(maps.Keys(b.tables)) {
		tables = append(tables, t.String())
	}
	nodes := slices.Sorted(maps.Keys(b.nodes))
	beside := !slices.ContainsFunc(slices.Collect(maps.Keys(b.tables)), func(t model.Table) bool { return !t.Supplements() })
	return Skip{Code: d.Code, Why: "not read on " + some(nodes) + ": " + strings.Join(tables, ", "), Nodes: nodes, OutOfScope: beside}, true
}

// some lists the first few names.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:few], ", ") + " and others"
}
