package explain

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

var routeWords = map[string]string{"new": "added", "changed": "changed", "gone": "removed"}

// routeLines say who changed the node's routes to the addresses last.
func routeLines(ctx context.Context, sess *term.Session, u *cluster.Scoped, node string, ips []netip.Addr) {
	changes, err := u.RouteChanges(ctx, node, ips)
	if err != nil {
		fmt.Fprintln(sess.Stderr, plain.Line(fmt.Sprintf("changes of routes were not read from %s: %v", node, err)))
	}
	for _, c := range changes {
		sess.PrintLabelled(sess.Width(), "Route     ", fmt.Sprintf("to %s %s at %s %s", c.IP, routeWords[c.What], plain.Stamp(c.At), c.Who))
	}
}

// holders are the nodes of the pods and sandboxes that have an address.
func holders(v *model.View, ip netip.Addr) (out []string) {
	for c := range v.Claims(ip) {
		node := ""
		switch c.By {
		case model.ByPod:
			node = v.Pod(c.Row).Node
		case model.BySandbox:
			node = v.Attachment(c.Row).Node
		default:
		}
		if node != "" && !slices.Contains(out, node) {
			out = append(out, node)
		}
	}
	slices.Sort(out)
	return out
}
