package repair

import (
	"fmt"
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/model"
)

// Says tells a person what the step does.
func (s *Step) Says() string {
	switch {
	case s.Ordinals != nil:
		return s.ordinalsSay()
	case s.Mend != nil:
		return "mend: what is held stays held, the list of free ordinals is what is not"
	case s.NewBlock != nil:
		return "create, of " + s.NewBlock.Node
	case s.Count != nil:
		return s.Count.says()
	case s.Affinity != nil:
		return s.Affinity.says()
	case s.Endpoint != nil:
		if s.Endpoint.Instead != (model.Ref{}) {
			return "delete, if " + s.Endpoint.Instead.Name + " is of the same sandbox"
		}
		if s.Endpoint.Want == nil {
			return "delete, if it still is of sandbox " + orText(s.Endpoint.Container, "none")
		}
		return "create from the facts of the node"
	case s.Annotate != nil:
		_, all := addressText(s.Annotate.IPs)
		return "annotate " + orText(all, "nothing") + ", sandbox " + s.Annotate.Container
	case s.Evict != nil:
		return "evict, once the ledger names the one that stays"
	case s.Restart != nil:
		return "restart: its controller makes it again"
	case s.Node != nil:
		return map[string]string{
			"unlink": "delete the device, by its index " + s.Node.Args["index"], "unroute": "delete the route to device " + s.Node.Args["link"],
			"unneighbour": "delete the static entry " + s.Node.Args["mac"], "sysctl": "set to " + s.Node.Args["value"],
			"abort": "end the connection of the file system", "remove": "stop and remove the sandbox",
		}[s.Node.Verb]
	case s.Await != nil:
		return fmt.Sprintf("wait until Felix sets %s dev %s (%ds, no write of ours)", s.Await.IP, s.Await.Device, s.Await.Seconds)
	default:
		return s.Do
	}
}

func (s *Step) ordinalsSay() string {
	var parts []string
	said := map[netip.Addr]bool{} // two findings may ask for the same
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
			from = orText(o.From.Handle, "held")
		}
		if o.To != nil {
			to = o.To.Handle
			if o.From != nil && o.From.Handle == to {
				to = "the same handle, with its right owner"
			}
		}
		parts = append(parts, fmt.Sprintf("%s: %s -> %s", o.IP, from, to))
	}
	return strings.Join(parts, "; ")
}

func (c *Count) says() string {
	if len(c.Raise) == 0 {
		return "count what the blocks hold; remove it if that is nothing"
	}
	var parts []string
	for _, r := range c.Raise {
		parts = append(parts, fmt.Sprintf("%d in %s", len(r.IPs), r.Block))
	}
	return "count " + strings.Join(parts, ", ") + " more, before the block says so"
}

func (a *Affinity) says() string {
	switch a.Want {
	case AffinityGone:
		return "delete, unless the block names " + a.Node
	case AffinityLabelled:
		return "add the labels by which IPAM finds it"
	default:
		return "make it " + a.Want
	}
}
