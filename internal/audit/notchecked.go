package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// NotChecked says what was not read, and which codes were therefore not checked.
func (r *Report) NotChecked() []string {
	var out []string
	for _, c := range r.Gaps {
		if c.Node == "" {
			out = append(out, fmt.Sprintf("Not checked: %s: %s", c.Table, c.Reason))
		}
	}
	out = append(out, r.NodesNotChecked()...)
	var codes, there []string
	na := map[string][]string{}
	for _, s := range r.Skipped {
		switch {
		case s.Unknown:
			out = append(out, fmt.Sprintf("Not checked: %s of %s: %s", s.Code, plain.Count(len(s.Nodes), "node"), s.Why))
		case s.OutOfScope:
		case s.NotApplicable:
			na[s.Why] = append(na[s.Why], string(s.Code))
		case len(s.Nodes) > 0:
			there = append(there, string(s.Code))
		default:
			codes = append(codes, string(s.Code))
		}
	}
	if len(codes) > 0 {
		out = append(out, fmt.Sprintf("Not checked: %s", strings.Join(codes, ", ")))
	}
	if len(there) > 0 {
		out = append(out, fmt.Sprintf("%s not checked on these nodes: %s", plain.Count(len(there), "code"), strings.Join(there, ", ")))
	}
	if c := r.Calico; c.IPAM == "calico" && c.Network == "calico" && c.Dataplane != "vpp" && c.Enterprise == "" {
		na = nil // what the other datastore would have is not worth a line
	}
	for _, why := range slices.Sorted(maps.Keys(na)) {
		out = append(out, fmt.Sprintf("Not applicable: %s: %s", strings.Join(na[why], ", "), why))
	}
	if !r.View.Agents() {
		out = append(out, "Not checked: node state (no agents installed)")
	}
	return out
}

// NodesNotChecked has a line for each reason for which nodes, or some of their tables, were not
// read.
func (r *Report) NodesNotChecked() []string {
	type gap struct{ tables, why string }
	byNode := map[string]map[string][]string{} // node, reason, tables
	for _, c := range r.Gaps {
		if c.Node == "" {
			continue
		}
		if byNode[c.Node] == nil {
			byNode[c.Node] = map[string][]string{}
		}
		byNode[c.Node][c.Reason] = append(byNode[c.Node][c.Reason], c.Table.String())
	}
	nodes := map[gap][]string{}
	var order []gap
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		for _, why := range slices.Sorted(maps.Keys(byNode[node])) {
			tables := byNode[node][why]
			what := gap{strings.Join(tables, ", "), why}
			if wholeNode(tables) {
				what.tables = "kernel, runtime"
			}
			if nodes[what] == nil {
				order = append(order, what)
			}
			nodes[what] = append(nodes[what], node)
		}
	}
	var out []string
	for _, g := range order {
		out = append(out, fmt.Sprintf("Not checked: %s of %s: %s", g.tables, plain.FewOf(nodes[g]), g.why))
	}
	return out
}

// wholeNode reports whether tables are all that a node has, or all that older agents had.
func wholeNode(tables []string) bool {
	for _, t := range model.FactTables() {
		if !t.Supplements() && !slices.Contains(tables, t.String()) {
			return false
		}
	}
	return true
}
