package web

import (
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A nodeState is a node in the grid.
type nodeState struct {
	Name   string
	Class  string // error, warning, info, unread, good
	Says   string
	Pods   int
	Count  int // findings
	Unread bool
}

// grid gives the nodes, with the worst that is said of each.
func (l *look) grid() (out []nodeState) {
	worst, n, unconfirmed := map[string]finding.Severity{}, map[string]int{}, map[string]bool{}
	found, _ := l.seen(func(*finding.Finding) bool { return true })
	for _, f := range found {
		if f.As == "suppressed" {
			continue
		}
		for _, node := range l.nodesOf(f.Finding) {
			n[node]++
			switch {
			case f.State != finding.Confirmed:
				unconfirmed[node] = true
			case worst[node] == "" || f.Severity.Level() > worst[node].Level():
				worst[node] = f.Severity
			}
		}
	}
	unread := l.Unread([]string{"kubernetes", "calico"})
	notEvaluated := map[string]bool{} // nodes that a code could not be evaluated on
	for _, s := range l.Skipped {
		for _, node := range s.Nodes {
			notEvaluated[node] = notEvaluated[node] || !s.NotApplicable
		}
	}
	for i := range l.View.Snapshot().Nodes {
		node := &l.View.Snapshot().Nodes[i]
		s := nodeState{Name: node.Name, Class: string(worst[node.Name]), Count: n[node.Name], Unread: !l.read(node.Name)}
		for range l.View.PodsOn(node.Name) {
			s.Pods++
		}
		partly := notEvaluated[node.Name]
		switch {
		case s.Class != "" && s.Class != string(finding.Info):
			s.Says = s.Class
		case !node.Ready:
			s.Class, s.Says = string(finding.Warning), "not ready"
		case unconfirmed[node.Name] && (s.Unread || unread || partly):
			s.Class, s.Says = string(finding.Info), "unconfirmed findings only, and not everything was checked"
		case unconfirmed[node.Name]:
			s.Class, s.Says = string(finding.Info), "unconfirmed findings only"
		case s.Unread:
			s.Class, s.Says = "unread", "node state not checked, or not all of it"
		case unread:
			s.Class, s.Says = "unread", "Kubernetes or Calico not checked, or not all of it"
		case partly:
			s.Class, s.Says = "unread", "no findings in what was checked: some codes were not evaluated"
		case s.Class != "":
			s.Says = s.Class
		case !l.unlimited:
			s.Class, s.Says = "good", "no findings that you may see"
		default:
			s.Class, s.Says = "good", "no findings"
		}
		out = append(out, s)
	}
	return out
}

// read tells that all tables of a node were read that judging needs.
func (l *look) read(node string) bool {
	for _, t := range model.FactTables() {
		if !t.Supplements() && !l.View.State(t, node).Seen() {
			return false
		}
	}
	return true
}

// nodes lists all nodes.
func (l *look) nodes() (string, any, error) {
	all := l.grid()
	p := paged(len(all), "nodes", l.q)
	return "nodes", map[string]any{"Nodes": all[p.From:p.To], "Pages": p}, nil
}
