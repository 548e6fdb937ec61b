package detect

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL9005 finds Calico versions with a known fault, and mixed versions.
var PL9005 = &Detector{
	Code: finding.PL9005, Title: "Calico version with a known fault, or mixed Calico versions", Severity: finding.Warning, Class: finding.Now,
	Each: []model.Table{model.Cluster, model.Components, model.Nodes}, Needs: []model.Table{model.Cluster}, Uses: []model.Table{model.Components, model.Nodes, model.Machines, model.CNIConfigs},
	Applies: isOpenSource, Since: "0.1", Run: version,
}

// knownFaults are versions that destroy what running pods use; lesser faults are not worth a
// warning on every cluster.
var knownFaults = []struct {
	from, before [2]int // minor versions of Calico 3
	says         string
}{
	{[2]int{3, 0}, [2]int{3, 22}, "its IPAM garbage collector releases addresses of running pods (calico#5044, calico#3940)"},
}

func version(p *Pass, t model.Table, row int32) {
	info := p.Info()
	if t == model.Nodes {
		pluginOf(p, p.Node(row), info.Calico)
		return
	}
	if t == model.Components {
		c := p.Component(row)
		if minor(c.Version) != minor(info.Calico) && minor(c.Version) != [2]int{} && minor(info.Calico) != [2]int{} {
			subject := model.Ref{Kind: model.KindCluster, Name: c.Name}
			p.Report(finding.Finding{
				Subject: subject, Summary: fmt.Sprintf("is %s, ClusterInformation has %s", c.Version, info.Calico),
				Evidence: []finding.Evidence{{Ref: subject, Says: c.Version}},
			})
		}
		return
	}
	for _, k := range knownFaults {
		if m := minor(info.Calico); m[0] == k.from[0] && m[1] >= k.from[1] && m[1] < k.before[1] {
			subject := model.Ref{Kind: model.KindCluster, Name: "calico"}
			p.Report(finding.Finding{Subject: subject, Summary: info.Calico + ": " + k.says, Evidence: []finding.Evidence{{Ref: subject, Says: info.Calico}}})
		}
	}
}

// pluginOf evaluates the CNI plugin of a node: an upgrade may have left it behind. Plugins of
// Calico 2 are v1.
func pluginOf(p *Pass, n *model.Node, calico string) {
	m := p.MachineOf(n.Name)
	if setup := p.CNISetupOn(n.Name); m == nil || setup.Calicos == nil {
		return // no agent, or no runtime calls it
	}
	if minor(m.Plugin) == [2]int{} {
		const why = "version of the CNI plugin unknown"
		p.untold[why] = append(p.untold[why], n.Name)
		return
	}
	f := finding.Finding{Subject: n.Ref(), Node: n.Name, Evidence: []finding.Evidence{{Ref: m.Ref(), Says: "CNI plugin " + plain(m.Plugin, maxName)}}}
	switch is, want := minor(m.Plugin), minor(calico); {
	case is[0] < 2:
		f.Severity = finding.Error
		f.Summary = "CNI plugin " + plain(m.Plugin, maxName) + " finds pods by name: a late DEL takes the network of the new pod with that name"
	case is != want && want != [2]int{}:
		f.Summary = fmt.Sprintf("CNI plugin is %s, ClusterInformation has %s", plain(m.Plugin, maxName), plain(calico, maxName))
	default:
		return
	}
	p.Report(f)
}

// minor reads v3.31.0 as 3, 31.
func minor(v string) (m [2]int) {
	parts := strings.SplitN(strings.TrimPrefix(v, "v"), ".", 3)
	if len(parts) < 2 {
		return m
	}
	if _, err := fmt.Sscanf(parts[0]+" "+parts[1], "%d %d", &m[0], &m[1]); err != nil {
		return [2]int{}
	}
	return m
}

// since reports whether a version is known, and is major.minor or later.
func since(v string, major, mi int) bool {
	m := minor(v)
	return m[0] > major || m[0] == major && m[1] >= mi
}
