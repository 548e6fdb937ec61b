package detect

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// Evidence from node state. Since is when the agent on the node saw the row change.

// seatSays leaves out the readiness: it changes all the time while a pod has no network.
func seatSays(s *seat) finding.Evidence {
	p := s.pod
	says := fmt.Sprintf("uid %s, on %s, not being deleted; should have %s", orDash(p.UID), p.Node, addrs(s.ips))
	return finding.Evidence{Ref: p.Ref(), Says: says, Revision: p.Revision, Since: p.Written}
}

func sandboxSays(s *model.Sandbox) finding.Evidence {
	says := fmt.Sprintf("ready, attempt %d for pod %s/%s, uid %s", s.Attempt, s.Namespace, s.Pod, orDash(s.UID))
	return finding.Evidence{Ref: s.Ref(), Says: says, Since: s.Since}
}

// machineSays leaves out the uptime: it changes by itself.
func machineSays(m *model.Machine) finding.Evidence {
	felix := m.Felix
	if felix == "" {
		felix = "of unknown state"
	}
	return finding.Evidence{Ref: m.Ref(), Says: "Felix is " + felix + ", boot " + orDash(m.BootID), Since: m.Since}
}

func linkSays(l *model.Link, more string) finding.Evidence {
	says := fmt.Sprintf("index %d, %s, %s", l.Index, orDash(l.Kind), upOrDown(l.Up))
	if l.Peer != 0 {
		says += fmt.Sprintf("; peer index %d", l.Peer)
	}
	if l.PeerNS != 0 {
		says += fmt.Sprintf(" in namespace %d", l.PeerNS)
	}
	return finding.Evidence{Ref: l.Ref(), Says: says + more, Since: l.Since}
}

func insideSays(a *model.Attachment) finding.Evidence {
	if a.Device == "" {
		return finding.Evidence{Ref: a.Ref(), Says: fmt.Sprintf("namespace %d has no interface", a.Inode), Since: a.Since}
	}
	var ips []netip.Addr
	for _, q := range a.IPs {
		ips = append(ips, q.Addr())
	}
	says := fmt.Sprintf("%s in namespace %d is %s and has %s, MAC %s; peer index %d", a.Device, a.Inode, upOrDown(a.Up), addrs(ips), orDash(a.MAC), a.Peer)
	return finding.Evidence{Ref: a.Ref(), Says: says, Since: a.Since}
}

// namespaceSays describes a network namespace without process and sandbox.
func namespaceSays(a *model.Attachment) finding.Evidence {
	says := fmt.Sprintf("namespace %d: no process, no sandbox", a.Inode)
	if a.Pinned {
		says += "; a file keeps it open"
	}
	return finding.Evidence{Ref: a.Ref(), Says: says, Since: a.Since}
}

// routesSays lists the pod's default routes and its routes to the gateway.
func routesSays(a *model.Attachment) finding.Evidence {
	var out []string
	for i := range a.Routes {
		r := &a.Routes[i]
		if !r.Dst.IsValid() || r.Dst.Bits() != 0 && !r.Dst.Contains(gateway) {
			continue
		}
		way := strings.TrimSpace(r.Type + " " + r.Dst.String())
		if r.Gateway.IsValid() {
			way += " via " + r.Gateway.String()
		}
		out = append(out, way)
	}
	slices.Sort(out)
	return finding.Evidence{Ref: a.Ref(), Says: "routes " + orDash(strings.Join(out, ", ")), Since: a.Since}
}

func pathSays(p *Pass, path *model.Path) finding.Evidence {
	return finding.Evidence{Ref: path.Ref(), Says: wayOf(p, path), Since: path.Since}
}

func neighbourSays(n *model.Neighbour, l *model.Link) finding.Evidence {
	ref := model.Ref{Kind: model.KindNeighbour, Name: fmt.Sprintf("%s/%s/%s", n.Node, n.IP, l.Name)}
	return finding.Evidence{Ref: ref, Says: stateOf(n) + " with MAC " + orDash(n.MAC), Since: n.Since}
}

// nearSays describes an entry of the pod's own neighbour table. Since is not before the
// pod's interface was last changed.
func nearSays(a *model.Attachment, n *model.Neighbour) finding.Evidence {
	says := fmt.Sprintf("%s is %s", n.IP, stateOf(n))
	if n.MAC != "" {
		says += " with MAC " + n.MAC
	}
	since := a.Since
	if !since.IsZero() {
		since = max(since, n.Since)
	}
	return finding.Evidence{Ref: a.Ref(), Says: says, Since: since}
}

// stateOf gives one name to the states between which an entry changes by itself.
func stateOf(n *model.Neighbour) string {
	switch n.State {
	case "REACHABLE", "STALE", "DELAY", "PROBE":
		return "dynamic"
	case "FAILED", "INCOMPLETE":
		return "unresolved"
	default:
		return n.State
	}
}

func sysctlSays(s *model.Sysctl) finding.Evidence {
	ref := model.Ref{Kind: model.KindSysctl, Name: fmt.Sprintf("%s/%s/%s", s.Node, s.Device, s.Key)}
	return finding.Evidence{Ref: ref, Says: s.Value, Since: s.Since}
}

func linkName(p *Pass, node string, index int) string {
	if l := p.LinkAt(node, index); l != nil {
		return l.Name
	}
	return fmt.Sprintf("interface %d", index)
}

func upOrDown(up bool) string {
	if up {
		return "up"
	}
	return "down"
}
