package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL5003 finds nodes whose CNI plugin writes another node's name into Calico's records.
var PL5003 = &Detector{
	Code: finding.PL5003, Title: "wrong node name in a node's CNI configuration or nodename file", Severity: finding.Error, Class: finding.Transient,
	Each:  []model.Table{model.Nodes},
	Needs: []model.Table{model.Nodes, model.Hosts, model.CNIConfigs, model.Machines},
	Since: "0.2", Run: wrongNodeName,
}

// nodeNameFile is what Calico's plugin reads if its configuration has no node name.
const nodeNameFile = "/var/lib/calico/nodename"

func wrongNodeName(p *Pass, _ model.Table, row int32) {
	n := p.Node(row)
	setup := p.CNISetupOn(n.Name)
	c := setup.Calicos
	if c == nil || setup.Loaded == nil {
		return
	}
	name, where, says := c.NodeName, c.File, finding.Evidence{Ref: c.Ref(), Says: "nodename " + plain(c.NodeName, maxName), Since: c.Since}
	if m := p.MachineOf(n.Name); name == "" && m != nil {
		name, where = m.CalicoName, nodeNameFile
		says = finding.Evidence{Ref: m.Ref(), Says: nodeNameFile + " contains " + plain(name, maxName)}
	}
	if name == "" || p.SameNode(name, n.Name) {
		return
	}
	f := finding.Finding{
		Subject: n.Ref(), Node: n.Name, Evidence: []finding.Evidence{says},
		Summary: fmt.Sprintf("%s names node %s", plain(where, maxName), plain(name, maxName)),
	}
	if other := p.NodeByName(name); other != nil {
		f.Summary += ", which is another node: the IPAM garbage collector will release the addresses of this node's pods"
		f.About = append(f.About, other.Ref())
		f.Evidence = append(f.Evidence, finding.Evidence{Ref: other.Ref(), Says: "exists", Revision: other.Revision, Since: other.Created})
	} else {
		f.Summary += ", but there is no such node"
		f.Evidence = append(f.Evidence, noNode(plain(name, maxName)))
	}
	p.Report(f)
}
