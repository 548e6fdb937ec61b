package ladder

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// mostIPs bounds the addresses of a pod that are looked at: a pod has one or two.
const mostIPs = 8

// A builder has what the rungs of one pod are read from.
type builder struct {
	v        *model.View
	p        *model.Pod
	calico   detect.Calico
	may      func(namespace string) bool
	endpoint *model.Endpoint // nil if there is none, and with custom resources
	box      *model.Sandbox  // that runs; nil if none is known
	in       *model.Attachment
	ips      []netip.Addr
	expected bool // its network is complete: what is not there is missing
}

func newBuilder(r *audit.Report, p *model.Pod, who Viewer) *builder {
	v := r.View
	b := &builder{v: v, p: p, calico: r.Calico, may: who.May}
	if b.may == nil {
		b.may = func(string) bool { return true }
	}
	b.expected = p.Phase == model.Running && p.Deleted.IsZero() && len(p.IPs) > 0
	for e := range v.EndpointsOf(p.Namespace, p.Name) {
		if b.endpoint == nil || v.SameNode(e.Node, p.Node) {
			b.endpoint = e
		}
	}
	if b.box = v.RunningSandbox(p); b.box != nil {
		b.in = v.Inside(b.box.Node, b.box.ID)
		if device, _ := v.DeviceOf(b.box.Node, b.box.ID); b.in == nil && b.box.Inode != 0 {
			for a := range v.AttachmentsIn(b.box.Node, b.box.Inode) {
				if a.Device == device {
					b.in = a
				}
			}
		}
	}
	add := func(ips []netip.Addr) {
		for _, ip := range ips {
			if !slices.Contains(b.ips, ip) && len(b.ips) < mostIPs {
				b.ips = append(b.ips, ip)
			}
		}
	}
	add(p.IPs)
	add(p.Annotated)
	if b.endpoint != nil {
		add(b.endpoint.IPs)
	}
	if b.in != nil {
		add(inside(b.in))
	}
	return b
}

// missing is a cell of what should be there.
func (b *builder) missing(says string) Cell {
	if !b.expected {
		return Cell{Says: strings.ToLower(says), Mark: Nothing}
	}
	return Cell{Says: says, Mark: Missing}
}

// unread is a cell of what its source was not read about; ok is true if it was.
func (b *builder) unread(of string, ts ...model.Table) (c Cell, ok bool) {
	for _, t := range ts {
		switch b.v.State(t, of) {
		case model.Complete, model.NotThere:
		case model.Unread:
			if of != "" {
				return Cell{Says: "not checked: no agent", Mark: Unread}, false
			}
			return Cell{Says: "not checked", Mark: Unread}, false
		default:
			return Cell{Says: "not checked: not read", Mark: Unread}, false
		}
	}
	return Cell{}, true
}

func (b *builder) pod() Rung {
	r := Rung{Part: partPod}
	says := string(b.p.Phase)
	if !b.p.Deleted.IsZero() {
		says += ", being deleted"
	}
	r.Cells[kubernetes] = Cell{Says: says}
	var ok bool
	if r.Cells[node], ok = b.unread(b.p.Node, model.Sandboxes, model.Containers); ok && b.box != nil {
		running := 0
		for c := range b.v.ContainersIn(b.box.Node, b.box.ID) {
			if c.State == "running" {
				running++
			}
		}
		r.Cells[node] = Cell{Says: plain.Count(running, "container") + " running"}
		if running == 0 {
			r.Cells[node].Mark = Nothing // they may be starting, or start again and again
		}
	}
	return r
}

func (b *builder) sandbox() Rung {
	r := Rung{Part: partSandbox}
	id := b.p.ContainerID
	if b.calico.Etcd {
		id = ""
		if b.endpoint != nil {
			id = b.endpoint.ContainerID
		}
	}
	if id != "" {
		r.Cells[calico] = Cell{Says: plain.ShortID(id), value: id}
	}
	var ok bool
	if r.Cells[node], ok = b.unread(b.p.Node, model.Sandboxes); ok {
		r.Cells[node] = b.missing("NONE READY")
		if b.box != nil {
			r.Cells[node] = Cell{Says: plain.ShortID(b.box.ID) + ", ready", value: b.box.ID}
		}
	}
	return r
}

func (b *builder) inside() Rung {
	r := Rung{Part: partInside}
	r.Cells[kubernetes] = addresses(b.p.IPs)
	switch {
	case b.calico.Etcd && b.endpoint != nil:
		r.Cells[calico] = addresses(b.endpoint.IPs)
	case b.p.Annotation == model.Written:
		r.Cells[calico] = addresses(b.p.Annotated)
	}
	var ok bool
	if r.Cells[node], ok = b.unread(b.p.Node, model.Sandboxes, model.Attachments); !ok || b.box == nil {
		return b.boxless(r)
	}
	if name, _ := b.v.DeviceOf(b.box.Node, b.box.ID); name != "" {
		r.Part = name
	}
	switch {
	case b.in == nil && !b.looked():
		r.Cells[node] = Cell{Says: "not checked: namespace not found", Mark: Unread}
	case b.in == nil:
		r.Cells[node] = b.missing("NO INTERFACE")
	case len(b.in.IPs) > 0:
		r.Cells[node] = addresses(inside(b.in))
	case b.box.SharesKernel():
		r.Cells[node] = b.missing("NO ADDRESS")
	default: // it is in the runtime's own network stack
		r.Cells[node] = Cell{Says: fmt.Sprintf("not visible (%s)", b.box.Handler), Mark: Unread}
	}
	return r
}

// boxless says of a part that the node has only in a running sandbox that there is none.
func (b *builder) boxless(r Rung) Rung {
	if r.Cells[node].Says == "" {
		r.Cells[node] = Cell{Says: "no running sandbox", Mark: Nothing}
	}
	return r
}

// looked tells that the sandbox's network namespace was found: one without interfaces has a row too.
func (b *builder) looked() bool {
	for range b.v.AttachmentsOf(b.box.Node, b.box.ID) {
		return true
	}
	if b.box.Inode != 0 {
		for range b.v.AttachmentsIn(b.box.Node, b.box.Inode) {
			return true
		}
	}
	return false
}

func inside(a *model.Attachment) (out []netip.Addr) {
	for _, p := range a.IPs {
		out = append(out, p.Addr())
	}
	return out
}

// addresses is a cell of addresses in any order; there is nothing to say of none.
func addresses(ips []netip.Addr) Cell {
	if len(ips) == 0 {
		return Cell{}
	}
	sorted := slices.Clone(ips)
	slices.SortFunc(sorted, netip.Addr.Compare)
	var all []string
	for _, ip := range sorted[:min(len(sorted), mostIPs)] {
		all = append(all, ip.String())
	}
	says := strings.Join(all, ", ")
	return Cell{Says: says, value: says}
}
