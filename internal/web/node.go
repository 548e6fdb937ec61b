package web

import (
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A nodePage is what is known of a node.
type nodePage struct {
	*model.Node
	Machine  *model.Machine
	Tables   []tableState
	Runtimes []*model.Runtime
	Mounts   []*model.Mount
	Process  []*model.Process
	Dels     []model.FailedDel
	Configs  []*model.CNIConfig
	Use      model.Usage
	Pods     []podRow
	MorePods int
	Hidden   int // pods that who asks may not list
	Findings section
	Commands []string
	Log      bool // its event log can be asked for
	All      bool // who asks may see what names pods of all namespaces
	Unread   map[string]bool
}

type tableState struct {
	Table, State, Reason string
	Rows                 int
	Seen                 bool
}

type podRow struct {
	Name, Phase, IP string
	Class           string
}

// mostPods bounds the pods of a node's page.
const mostPods = 500

func (l *look) node() (string, any, error) {
	v := l.View
	n := v.NodeByName(l.q.Get("name"))
	if n == nil {
		return "", nil, missing("No node " + l.q.Get("name") + " in the last judgement.")
	}
	p := &nodePage{
		Node: n, Machine: v.MachineOf(n.Name), Use: v.NodeUse(v.CalicoName(n.Name)), Tables: l.tablesOf(n.Name),
		Runtimes: slices.Collect(v.RuntimesOn(n.Name)), Configs: slices.Collect(v.CNIConfigsOn(n.Name)), All: l.unlimited,
		Commands: []string{l.Command("explain node", n.Name), l.Command("check --node", n.Name)},
	}
	p.Unread = map[string]bool{}
	for name, t := range map[string]model.Table{"blocks": model.Blocks, "mounts": model.Mounts, "processes": model.Processes, "configs": model.CNIConfigs, "runtimes": model.Runtimes, "dels": model.FailedDels} {
		of := n.Name
		if !t.OfNode() {
			of = ""
		}
		p.Unread[name] = !v.State(t, of).Seen()
	}
	if p.All {
		p.Process, p.Dels = slices.Collect(v.ProcessesOn(n.Name)), v.FailedDelsOn(n.Name)
	}
	if s := v.Snapshot().NodeState[n.Name]; s != nil && p.All {
		for i := range s.Mounts {
			p.Mounts = append(p.Mounts, &s.Mounts[i])
		}
	}
	found, hidden := l.seen(func(f *finding.Finding) bool { return slices.Contains(l.nodesOf(f), n.Name) })
	p.Findings = l.section("node", found, hidden)
	p.Log = l.site.Changes != nil && l.unlimited
	worst := map[model.Ref]finding.Severity{}
	for _, f := range found {
		for _, r := range f.About {
			if s := f.Severity; f.As != "suppressed" && (worst[r] == "" || s.Level() > worst[r].Level()) {
				worst[r] = s
			}
		}
	}
	for pod := range v.PodsOn(n.Name) {
		switch {
		case !l.may(pod.Namespace):
			p.Hidden++
		case len(p.Pods) == mostPods:
			p.MorePods++
		default:
			row := podRow{Name: pod.Namespace + "/" + pod.Name, Phase: string(pod.Phase), Class: string(worst[pod.Ref()])}
			if len(pod.IPs) > 0 && !pod.HostNetwork {
				row.IP = pod.IPs[0].String()
			}
			p.Pods = append(p.Pods, row)
		}
	}
	return "node", p, nil
}

// tablesOf are the tables of a node, and how completely each was read.
func (l *look) tablesOf(node string) (out []tableState) {
	by := map[model.Table]model.Coverage{}
	for _, c := range l.View.Snapshot().Coverage {
		if c.Node == node {
			by[c.Table] = c
		}
	}
	rows := rowsOf(l.View.Snapshot().NodeState[node])
	for _, t := range slices.Sorted(maps.Keys(by)) {
		c := by[t]
		out = append(out, tableState{t.String(), string(c.State), c.Reason, rows[t], c.State.Seen()})
	}
	return out
}

// rowsOf counts the rows of a node's tables.
func rowsOf(s *model.NodeState) map[model.Table]int {
	if s == nil {
		return nil
	}
	return map[model.Table]int{
		model.Links: len(s.Links), model.Routes: len(s.Routes), model.Rules: len(s.Rules), model.Paths: len(s.Paths), model.Neighbours: len(s.Neighbours),
		model.Attachments: len(s.Attachments), model.Sysctls: len(s.Sysctls), model.Firewall: len(s.Firewall), model.Sandboxes: len(s.Sandboxes), model.Containers: len(s.Containers),
		model.CNIConfigs: len(s.CNIConfigs), model.CNIResults: len(s.CNIResults), model.Processes: len(s.Processes), model.Mounts: len(s.Mounts), model.Runtimes: len(s.Runtimes),
		model.FailedDels: len(s.FailedDels), model.Proxies: len(s.Proxies), model.HostLocal: len(s.HostLocal), model.Guards: len(s.Guards), model.Machines: len(s.Machines),
	}
}
