package detect

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// What is said of nodes whose firewall rules are not known.
const (
	noFirewall     = "firewall rules were not read"
	legacyFirewall = "rules of iptables-legacy are not read"
)

// felixForward ends the names of Felix's chains of forwarded packets.
const felixForward = "cali-FORWARD"

// dropsForwarded says which chain drops all forwarded packets of a family, or that none leads to
// Felix's chains; nothing if neither is so, or cannot be told. Rules with conditions are not judged.
func dropsForwarded(p *Pass, n *model.Node, six bool) (says string, e finding.Evidence) {
	if !p.Sees(n.Name, model.Firewall) {
		p.untold[noFirewall] = append(p.untold[noFirewall], n.Name)
		return "", e
	}
	felix, leads, legacy, changed := (*model.Chain)(nil), false, false, model.Time(0)
	chains := slices.Clone(p.ChainsOn(n.Name))
	slices.SortStableFunc(chains, func(a, b model.Chain) int { return a.Priority - b.Priority })
	for i := range chains {
		c := &chains[i]
		switch {
		case c.Family != "inet" && c.Family == "ip6" != six:
		case c.Legacy:
			legacy = true
		case c.Hook == "":
			felix = c
		default:
			changed = max(changed, c.Since)
			drops, to := walk(c)
			if leads = leads || to; drops != "" {
				says := fmt.Sprintf("%s of chain %s (table %s %s) drops all forwarded packets", drops, plain(c.Name, maxName), c.Family, plain(c.Table, maxName))
				return says, finding.Evidence{Ref: n.Ref(), Says: says, Since: c.Since}
			}
		}
	}
	if leads {
		return "", e
	}
	if legacy {
		p.untold[legacyFirewall] = append(p.untold[legacyFirewall], n.Name)
		return "", e
	}
	if felix == nil {
		return "", e // Felix may be too new, or not of this kind
	}
	says = fmt.Sprintf("no chain of forwarded packets leads to Felix's %s (table %s %s): packets pass by all policies, or are dropped", plain(felix.Name, maxName), felix.Family, plain(felix.Table, maxName))
	return says, finding.Evidence{Ref: n.Ref(), Says: says, Since: changed}
}

// walk follows a packet for which no condition holds through a chain: what drops it, and whether it
// comes to Felix's chains.
func walk(c *model.Chain) (drops string, felix bool) {
	for i, r := range c.Rules {
		to, jumps := strings.CutPrefix(r.Does, "jump ")
		if !jumps {
			to, jumps = strings.CutPrefix(r.Does, "goto ")
		}
		switch {
		case jumps && strings.HasSuffix(to, felixForward):
			return "", true
		case r.If, jumps, r.Does == "":
		case r.Does == "drop" || r.Does == "reject":
			return fmt.Sprintf("rule %d", i+1), false
		default:
			return "", false
		}
	}
	if c.Policy == "drop" && len(c.Rules) == 0 && !c.More {
		return "the policy", false
	}
	return "", false
}
