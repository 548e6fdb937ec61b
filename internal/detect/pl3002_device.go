package detect

import (
	"fmt"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL3002 finds pods that are not connected to their node.
var PL3002 = &Detector{
	Code: finding.PL3002, Title: "host interface of a pod is missing, down, or not connected to the pod", Severity: finding.Error, Class: finding.Kernel,
	Each:    []model.Table{model.Pods},
	Needs:   append([]model.Table{model.Links}, seatNeeds...),
	Uses:    seatUses,
	Applies: kernelIsCalicos, Since: "0.2", Run: deviceLost,
}

func deviceLost(p *Pass, _ model.Table, row int32) {
	s, ok := seatOf(p, row)
	if !ok || s.machine() {
		return
	}
	l, wrong := s.hostSide(p)
	if wrong == "" {
		return
	}
	f := finding.Finding{Summary: wrong, Evidence: []finding.Evidence{insideSays(s.around)}}
	if s.inside != nil {
		f.Evidence = []finding.Evidence{insideSays(s.inside)}
		gone := model.Ref{Kind: model.KindLink, Name: fmt.Sprintf("%s/%d", s.pod.Node, s.inside.Peer)}
		if l == nil {
			f.Evidence = append(f.Evidence, finding.Evidence{Ref: gone, Says: "no such interface on the host", Since: s.inside.Since})
		}
	}
	if l != nil {
		f.Evidence = append(f.Evidence, linkSays(l, ""))
		f.About = append(f.About, l.Ref())
	}
	s.report(p, f)
}

// hostSide returns the host interface that the pod's interface is connected to, and what is
// wrong with it. Both are empty if the pod's interface is no end of a pair.
func (s *seat) hostSide(p *Pass) (l *model.Link, wrong string) {
	a := s.inside
	if a == nil {
		return nil, "its namespace has no " + s.device
	}
	if a.Peer == 0 {
		return nil, ""
	}
	if m := p.MachineOf(a.Node); m != nil && m.NetNS != 0 && a.PeerNS != 0 && a.PeerNS != m.NetNS {
		return nil, "the peer of its " + s.device + " is not on the host"
	}
	l = p.LinkAt(a.Node, a.Peer)
	switch {
	case l == nil:
		return nil, fmt.Sprintf("its host interface, index %d, is gone", a.Peer)
	case !pair(l) || l.Peer != 0 && l.Peer != a.Index || l.PeerNS != 0 && l.PeerNS != a.Inode:
		return l, fmt.Sprintf("%s, index %d on the host, is not connected to the pod", l.Name, a.Peer)
	case !l.Up:
		return l, "its host interface " + l.Name + " is down"
	}
	return l, ""
}
