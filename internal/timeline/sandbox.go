package timeline

import (
	"cmp"
	"net/netip"
	"slices"
)

// sandboxes finds the sandboxes in a story's events, in the order in which they appear.
func sandboxes(events []Event) []Sandbox {
	var out []Sandbox
	at := map[string]int{}
	for i := range events {
		e := &events[i]
		if len(e.Sandbox) < minID {
			continue
		}
		n, ok := at[e.Sandbox]
		if !ok {
			n = len(out)
			at[e.Sandbox] = n
			out = append(out, Sandbox{ID: e.Sandbox})
		}
		out[n].see(e)
	}
	fromTables(out, events)
	return out
}

// see takes over what an event of the sandbox shows.
func (b *Sandbox) see(e *Event) {
	if b.Node == "" && onNode(e.Source) {
		b.Node = e.Node
	}
	b.UID = cmp.Or(b.UID, e.UID)
	b.Device = cmp.Or(b.Device, e.Device)
	switch e.Kind {
	case AddEnd, AddressAssigned, EndpointWritten:
		if b.Deleted.IsZero() && (e.Kind == AddEnd || b.Added.IsZero() || onNode(e.Source) && e.At.After(b.Added)) {
			b.Added = e.At
		}
		b.hold(e.Address)
	case PodSeen, SandboxCreated:
		b.hold(e.Address)
	case DelEnd, DelStopped, SandboxStopped:
		if b.Deleted.IsZero() {
			b.Deleted = e.At
		}
	default:
	}
}

func (b *Sandbox) hold(a netip.Addr) {
	if a.IsValid() && !slices.Contains(b.Addresses, a) {
		b.Addresses = append(b.Addresses, a)
	}
}

// fromTables gives an address that only a table shows, such as that of kubectl, to the sandbox
// without an address, if there is exactly one.
func fromTables(all []Sandbox, events []Event) {
	bare := -1
	for i := range all {
		if len(all[i].Addresses) == 0 {
			if bare >= 0 {
				return
			}
			bare = i
		}
	}
	if bare < 0 {
		return
	}
	for i := range events {
		e := &events[i]
		if e.Kind != PodSeen || !e.Address.IsValid() || e.Sandbox != "" || e.UID != "" || !agree(e.Node, all[bare].Node) {
			continue
		}
		if !slices.ContainsFunc(all, func(b Sandbox) bool { return slices.Contains(b.Addresses, e.Address) }) {
			all[bare].hold(e.Address)
		}
	}
}

// onNode reports whether a source runs on the node that its events are about.
func onNode(source string) bool {
	switch source {
	case "audit", "controllers", "events", "kubectl", "calicoctl":
		return false
	default:
		return true
	}
}
