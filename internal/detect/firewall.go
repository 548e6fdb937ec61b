package detect

import (
	"cmp"
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

// dropsForwarded says which chain drops all forwarded packets of a family, or that none leads to
// Felix's chains; nothing if neither is so, or cannot be told. Rules with conditions are not judged.
func dropsForwarded(p *Pass, n *model.Node, six bool) (says string, e finding.Evidence) {
	if !p.Sees(n.Name, model.Firewall) {
		p.untold[noFirewall] = append(p.untold[noFirewall], n.Name)
		return "", e
	}
	felix, leads, more, legacy, changed := (*model.Chain)(nil), false, false, false, model.Time(0)
	chains := slices.Clone(p.ChainsOn(n.Name))
	slices.SortStableFunc(chains, func(a, b model.Chain) int { return cmp.Compare(a.Priority, b.Priority) })
	for i := range chains {
		if c := &chains[i]; c.Hook == "" && !c.Legacy && (c.Family == "inet" || c.Family == "ip6" == six) {
			felix = c
		}
	}
	for i := range chains {
		c := &chains[i]
		switch {
		case c.Family != "inet" && c.Family != "ip" && c.Family != "ip6", c.Family != "inet" && c.Family == "ip6" != six:
		case c.Legacy:
			legacy = legacy || c.Table == "filter"
		case c.Hook == "forward":
			changed = max(changed, c.Since)
			drops, to := walk(c, accepts(felix))
			more = more || c.More
			if leads = leads || to; drops != "" {
				says := fmt.Sprintf("%s of chain %s (table %s %s) drops all forwarded packets", drops, plain(c.Name, maxName), c.Family, plain(c.Table, maxName))
				return says, finding.Evidence{Ref: n.Ref(), Says: says, Since: c.Since}
			}
		}
	}
	if legacy {
		p.untold[legacyFirewall] = append(p.untold[legacyFirewall], n.Name)
	}
	if leads || legacy || more || felix == nil {
		return "", e // Felix may be too new, or not of this kind
	}
	says = fmt.Sprintf("no chain of forwarded packets leads to Felix's %s (table %s %s): packets pass by all policies, or are dropped", plain(felix.Name, maxName), felix.Family, plain(felix.Table, maxName))
	return says, finding.Evidence{Ref: n.Ref(), Says: says, Since: changed}
}

// walk follows a packet of a pod for which no condition holds through a chain: what drops it, and
// whether it comes to Felix's chains. Felix marks what it allows, and accepts it by a rule at the end of
// the chain: what drops between the two, drops it all. Older versions accept inside their chain.
func walk(c *model.Chain, felixAccepts bool) (drops string, felix bool) {
	maybe := false // something above may have accepted it
	for _, r := range c.Rules {
		to, jumps := strings.CutPrefix(r.Does, "jump ")
		if !jumps {
			to, jumps = strings.CutPrefix(r.Does, "goto ")
		}
		switch {
		case jumps && strings.HasSuffix(to, model.FelixForward):
			if felix, maybe = true, false; felixAccepts {
				return "", true
			}
		case jumps:
			maybe = maybe || !felix
		case r.Does == "accept":
			if maybe = true; !r.If {
				return "", felix
			}
		case r.If || r.Does == "":
			maybe = maybe || r.Does == "" && r.If && !felix // a map of verdicts
		case (r.Does == "drop" || r.Does == "reject") && !maybe:
			return "a rule without conditions", felix
		default:
			return "", felix
		}
	}
	if c.Policy == "drop" && len(c.Rules) == 0 && !c.More {
		return "the policy", false
	}
	return "", felix
}

// accepts reports whether a chain of Felix itself accepts packets.
func accepts(c *model.Chain) bool {
	return c != nil && slices.ContainsFunc(c.Rules, func(r model.ChainRule) bool { return r.Does == "accept" })
}
