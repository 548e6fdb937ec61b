package explain

import (
	"net/netip"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// nodeRows are what a pod's own node says of it: its runtime, the device inside the pod,
// and what the host does with packets to it.
func nodeRows(v *model.View, pod *model.Pod, ips []netip.Addr) [][]string {
	if pod.HostNetwork {
		return nil // it has no network of its own
	}
	seen := func(ts ...model.Table) (string, bool) {
		for _, t := range ts {
			switch v.State(t, pod.Node) {
			case model.Complete, model.NotThere:
			case model.Unread:
				return "no agent", false
			default:
				return "not read by its agent", false
			}
		}
		return pod.Node, true
	}
	notChecked := func(source, why string) []string {
		return []string{source, "not checked", "not checked", "not checked", why}
	}
	runtime, ok := seen(model.Sandboxes)
	if !ok {
		return [][]string{notChecked("runtime", runtime), notChecked("pod eth0", runtime), notChecked("host", runtime)}
	}
	box := v.RunningSandbox(pod)
	if box == nil {
		none := []string{"runtime", "-", "NONE READY", "-", runtime}
		where, ok := seen(model.Links, model.Paths)
		if !ok {
			return [][]string{none, {"pod eth0", "-", "-", "-", "no sandbox"}, notChecked("host", where)}
		}
		return [][]string{none, {"pod eth0", "-", "-", "-", "no sandbox"}, {"host", hostRoute(v, pod.Node, ips), "-", "-", where}}
	}
	rows := [][]string{{"runtime", "-", plain.ShortID(box.ID), "-", runtime}}
	where, ok := seen(model.Attachments)
	if !ok {
		return append(rows, notChecked("pod eth0", where), notChecked("host", where))
	}
	name, _ := v.DeviceOf(box.Node, box.ID)
	inside := []string{"pod " + name, "NO DEVICE", plain.ShortID(box.ID), "-", where}
	peer := 0
	if a := v.Inside(box.Node, box.ID); a != nil {
		var has []netip.Addr
		for _, p := range a.IPs {
			has = append(has, p.Addr())
		}
		peer = a.Peer
		inside = []string{"pod " + name, list(has), plain.ShortID(box.ID), "peer if" + strconv.Itoa(a.Peer), where}
		switch {
		case len(has) > 0:
		case box.SharesKernel():
			inside[1] = "NO ADDRESS"
		default:
			inside[1] = "not visible (" + box.Handler + ")" // it is in the runtime's own network stack
		}
	}
	rows = append(rows, inside)
	where, ok = seen(model.Links, model.Paths)
	if !ok {
		return append(rows, notChecked("host", where))
	}
	device := "GONE"
	if l := v.LinkAt(pod.Node, peer); peer != 0 && l != nil {
		device = l.Name
	}
	return append(rows, []string{"host", hostRoute(v, pod.Node, ips), "-", device, where})
}

// hostRoute tells where the kernel of the node sends packets to the addresses.
func hostRoute(v *model.View, node string, ips []netip.Addr) string {
	var out []string
	for _, ip := range ips {
		p := v.PathTo(node, ip)
		switch {
		case p == nil:
			out = append(out, "NO ROUTE")
		case p.Error != "":
			out = append(out, strings.ToUpper(p.Error))
		default:
			name := "if" + strconv.Itoa(p.Link)
			if l := v.LinkAt(node, p.Link); l != nil {
				name = l.Name
			}
			out = append(out, "to "+name)
		}
	}
	return plain.Dash(strings.Join(out, ", "))
}
