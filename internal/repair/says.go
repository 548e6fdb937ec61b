package repair

import (
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// Says describes the step for the user.
func (s *Step) Says() string {
	switch {
	case s.Ordinals != nil:
		return s.ordinalsSay()
	case s.Mend != nil:
		return "repair its structure: allocated addresses stay allocated, all others become free"
	case s.NewBlock != nil:
		return "create with affinity " + s.NewBlock.Node
	case s.Count != nil:
		return s.Count.says()
	case s.Affinity != nil:
		return s.Affinity.says()
	case s.Endpoint != nil:
		if s.Endpoint.Instead != (model.Ref{}) {
			return "delete, if " + s.Endpoint.Instead.Name + " names the same sandbox"
		}
		if s.Endpoint.Want == nil {
			return "delete, if it still names sandbox " + orText(s.Endpoint.Container, "none")
		}
		return "create from the node state"
	case s.Annotate != nil:
		_, all := addressText(s.Annotate.IPs)
		return "annotate " + orText(all, "no address") + ", sandbox " + s.Annotate.Container
	case s.Evict != nil:
		return "evict, after IPAM has the address for the pod that keeps it"
	case s.Restart != nil:
		return "delete: its controller creates it again"
	case s.Node != nil:
		return map[string]string{
			"unlink": "delete the interface with index " + s.Node.Args["index"], "unroute": "delete the route to interface index " + s.Node.Args["link"],
			"unneighbour": "delete the static neighbour entry " + s.Node.Args["mac"], "sysctl": "set to " + s.Node.Args["value"],
			"abort": "abort the FUSE connection", "remove": "stop and remove the sandbox",
		}[s.Node.Verb]
	case s.Await != nil:
		return fmt.Sprintf("wait until Felix sets the route %s dev %s (at most %ds, no write)", s.Await.IP, s.Await.Device, s.Await.Seconds)
	default:
		return s.Do
	}
}

func (s *Step) ordinalsSay() string {
	var parts []string
	said := map[netip.Addr]bool{} // two findings may need the same change
	for i, o := range s.Ordinals {
		if len(parts) == 4 {
			parts = append(parts, fmt.Sprintf("%d more", len(s.Ordinals)-i))
			break
		}
		if said[o.IP] {
			continue
		}
		said[o.IP] = true
		from, to := "free", "free"
		if o.From != nil {
			from = orText(o.From.Handle, "allocated")
		}
		if o.To != nil {
			to = o.To.Handle
			if o.From != nil && o.From.Handle == to {
				to = "same handle, corrected owner"
			}
		}
		parts = append(parts, fmt.Sprintf("%s: %s -> %s", o.IP, from, to))
	}
	return strings.Join(parts, "; ")
}

func (c *Count) says() string {
	if len(c.Raise) == 0 {
		return "set its count to what the blocks hold; delete it if that is zero"
	}
	var parts []string
	for _, r := range c.Raise {
		parts = append(parts, fmt.Sprintf("%d for %s", len(r.IPs), r.Block))
	}
	return "raise its count by " + strings.Join(parts, ", ") + ", before the block allocates"
}

func (a *Affinity) says() string {
	switch a.Want {
	case affinityGone:
		return "delete, unless the block names " + a.Node
	case affinityLabelled:
		return "add the labels by which IPAM selects it"
	default:
		return "set state " + a.Want
	}
}
