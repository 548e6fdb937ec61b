package executetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A nodeWriter is the agents as they change their nodes.
type nodeWriter struct {
	*line
	m *mutant
}

// lacks reports that the agents do not make a check.
func (h nodeWriter) lacks(check string) bool { return slices.Contains(h.m.flaws, check) }

// An object is one that an agent can change.
type thing struct {
	identity string // that its digest covers
	body     map[string]any
	act      func(args map[string]string, dry bool) error
}

// NodeObject reads an object of a node. Before it is changed a pod of the same name may be
// created, whose ADD creates an interface of the same name.
func (h nodeWriter) NodeObject(_ context.Context, name string, r model.Ref, args map[string]string) (model.Object, error) {
	if err := h.moves(); err != nil {
		return model.Object{}, err
	}
	n := h.w.node(name)
	if n == nil || n.silent {
		return model.Object{}, errNoAnswer
	}
	t := h.find(n, r, args)
	if t == nil {
		return model.Object{Ref: r}, nil
	}
	h.m.reads(h.w, r, t.body)
	b, err := json.Marshal(t.body)
	if err != nil {
		return model.Object{}, err
	}
	if _, device, _ := strings.Cut(r.Name, "/"); r.Kind == model.KindLink && h.w.one(3) {
		h.w.returns(n, device)
	}
	return model.Object{Ref: r, Revision: t.identity, Body: b}, nil
}

// Change changes an object if it still is the one that was read.
func (h nodeWriter) Change(_ context.Context, name, verb string, object model.Object, args map[string]string, dryRun bool) (bool, error) {
	already := false
	err := h.writing(func() error {
		n := h.w.node(name)
		if n == nil || n.silent {
			return errNoAnswer
		}
		t := h.find(n, object.Ref, args)
		switch {
		case t == nil:
			already = true
			return nil
		case verbs[object.Ref.Kind] != verb:
			return fmt.Errorf("%s: %w", verb, execute.ErrRefused)
		case t.identity != object.Revision && !h.m.byName:
			return fmt.Errorf("%s: %w", object.Ref, execute.ErrStale)
		}
		return t.act(args, dryRun)
	})
	return already, err
}

var verbs = map[model.Kind]string{
	model.KindLink: "unlink", model.KindPath: "unroute", model.KindNeighbour: "unneighbour", model.KindSysctl: "sysctl", model.KindSandbox: "remove", model.KindMount: "abort",
}

// find gives an object; nil if it is not there.
func (h nodeWriter) find(n *node, r model.Ref, args map[string]string) *thing {
	_, name, _ := strings.Cut(r.Name, "/")
	switch r.Kind {
	case model.KindLink:
		return h.device(n, name, args)
	case model.KindPath:
		return h.route(n, name)
	case model.KindNeighbour:
		return h.neighbour(n, name)
	case model.KindSysctl:
		return h.setting(n, name)
	case model.KindSandbox:
		return h.sandbox(n, name)
	case model.KindMount:
		return h.mount(n, name)
	default:
		return nil
	}
}

func refused(why string) error { return fmt.Errorf("%s: %w", why, execute.ErrRefused) }

func (h nodeWriter) device(n *node, name string, args map[string]string) *thing {
	i := slices.IndexFunc(n.links, func(l *link) bool { return l.name == name })
	if i < 0 || strconv.Itoa(n.links[i].index) != args["index"] && !h.m.byName {
		return nil // an interface of that name with another index is another one
	}
	l := n.links[i]
	index := l.index
	if h.m.byName { // else the executor would see that it is another interface
		index, _ = strconv.Atoi(args["index"])
	}
	return &thing{fmt.Sprintf("%d %s %d", l.index, l.name, l.inode), map[string]any{"name": l.name, "index": index}, func(_ map[string]string, dry bool) error {
		if dry {
			return nil
		}
		h.w.log("WE unlink %s #%d of %s", l.name, l.index, n.name)
		for _, b := range n.boxes {
			if b.inode == l.inode && b.netns && b.died == 0 {
				h.w.harm("device %s #%d of %s was removed, and %s/%s is running behind it", l.name, l.index, n.name, b.ns, b.pod)
			}
		}
		n.unlink(l)
		return nil
	}}
}

// behind reports who has an address behind an interface.
func (n *node) behind(ip netip.Addr, link int) bool {
	return slices.ContainsFunc(n.boxes, func(b *box) bool { return b.netns && !b.own && b.link == link && slices.Contains(b.ips, ip) })
}

func (h nodeWriter) route(n *node, name string) *thing {
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return nil
	}
	own := 0
	for _, b := range n.boxes {
		if slices.Contains(b.ips, ip) {
			own = b.link
		}
	}
	at := n.path(h.w, ip, own)
	if at == 0 || at == uplink {
		return nil
	}
	return &thing{fmt.Sprint("route ", ip, at), map[string]any{"ip": ip, "routes": []any{map[string]any{"link": at}}}, func(args map[string]string, dry bool) error {
		switch link, _ := strconv.Atoi(args["link"]); {
		case link != at:
			return refused("no such route")
		case !h.lacks("owner") && n.behind(ip, at):
			return refused("the route is correct")
		case !h.lacks("owner") && len(n.calls) > 0:
			return refused("a CNI call runs")
		case dry:
			return nil
		}
		h.w.log("WE delete the route to %s by #%d of %s", ip, at, n.name)
		h.w.judgeUnrouted(n, ip, at)
		delete(n.stray, ip)
		if n.felix == nil {
			n.felix = map[netip.Addr]int64{}
		}
		n.felix[ip] = h.w.now + h.w.own.Int64N((2 * time.Minute).Milliseconds()) // Felix may be slow
		return nil
	}}
}

func (h nodeWriter) neighbour(n *node, name string) *thing {
	text, device, _ := strings.Cut(name, "/")
	i := slices.IndexFunc(n.entries, func(e entry) bool {
		l := n.linkAt(e.link)
		return e.ip.String() == text && l != nil && l.name == device
	})
	if i < 0 {
		return nil
	}
	e := n.entries[i]
	return &thing{fmt.Sprint(e), map[string]any{"ip": e.ip, "device": device, "link": e.link, "mac": e.mac}, func(args map[string]string, dry bool) error {
		switch {
		case args["link"] != strconv.Itoa(e.link) || args["mac"] != e.mac:
			return refused("another entry")
		case !h.lacks("owner") && n.behind(e.ip, e.link) && e.mac == podMAC:
			return refused("the entry is correct")
		case dry:
			return nil
		}
		h.w.log("WE delete the entry %v of %s", e, n.name)
		h.w.judgeForgotten(n, e)
		n.entries = slices.DeleteFunc(n.entries, func(o entry) bool { return o == e })
		return nil
	}}
}

func (h nodeWriter) setting(n *node, name string) *thing {
	device, key, _ := strings.Cut(name, "/")
	index := uplink
	if i := slices.IndexFunc(n.links, func(l *link) bool { return l.name == device }); i >= 0 {
		index = n.links[i].index
	} else if device != "eth0" {
		return nil
	}
	return &thing{fmt.Sprint(device, key, index, n.off[index]), map[string]any{"device": device, "key": key, "index": index}, func(args map[string]string, dry bool) error {
		if args["index"] != strconv.Itoa(index) {
			return refused("another interface")
		}
		if dry {
			return nil
		}
		h.w.log("WE set %s of %s on %s", key, device, n.name)
		if index == uplink {
			h.w.harm("%s of eth0 on %s was set: the node answers for others", key, n.name)
		}
		delete(n.off, index)
		return nil
	}}
}

func (h nodeWriter) sandbox(n *node, id string) *thing {
	b := n.box(id)
	if b == nil || !b.listed {
		return nil
	}
	return &thing{b.id, map[string]any{"id": b.id, "namespace": b.ns, "pod": b.pod, "uid": b.uid}, func(args map[string]string, dry bool) error {
		k := h.w.worker(b.uid)
		switch {
		case args["uid"] != b.uid:
			return refused("its pod is not the one in the plan")
		case !h.lacks("kubelet") && k != nil && k.box == b:
			return refused("the kubelet still has the pod")
		case !h.lacks("calls") && slices.ContainsFunc(n.calls, func(c *call) bool { return c.cid == b.id }):
			return refused("a CNI call for it runs")
		case !h.lacks("name") && slices.ContainsFunc(n.boxes, func(o *box) bool { return o != b && o.ns == b.ns && o.pod == b.pod }):
			return refused("the name has another sandbox")
		case dry:
			return nil
		}
		h.w.log("WE remove sandbox %s of %s", b.id, n.name)
		h.w.judgeRemoved(n, b)
		b.dies(h.w)
		d := &del{n: n, cid: b.id, ns: b.ns, pod: b.pod, b: b, then: func(*world, *task) step {
			b.netns, b.ips = false, nil
			n.forget(b)
			return nil
		}}
		h.w.spawn("remove "+b.id, n, d.begin)
		return nil
	}}
}

func (h nodeWriter) mount(n *node, source string) *thing {
	i := slices.IndexFunc(n.fuses, func(u *fuse) bool { return u.source == source })
	if i < 0 {
		return nil
	}
	u := n.fuses[i]
	body := map[string]any{"source": u.source, "device": u.device, "pods": u.users, "known": len(u.hidden) == 0}
	if u.layer != "" {
		body["layers"] = []string{u.layer}
	}
	return &thing{fmt.Sprint(u.device, u.source, u.users, len(u.hidden), u.layer), body, func(args map[string]string, dry bool) error {
		named := strings.Split(args["pods"], ",")
		switch {
		case args["device"] != u.device:
			return refused("another device")
		case !h.lacks("answers") && (!u.hung || h.w.now-u.since < 2*second):
			return refused("it answers")
		case !h.lacks("users") && slices.ContainsFunc(u.users, func(uid string) bool { return !slices.Contains(named, uid) }):
			return refused("a pod uses it that the plan does not name")
		case dry:
			return nil
		}
		h.w.log("WE abort %s of %s", u.source, n.name)
		h.w.judgeAborted(n, u, args["pods"])
		n.fuses = slices.DeleteFunc(n.fuses, func(o *fuse) bool { return o == u })
		return nil
	}}
}

// Routed: Felix sets a route immediately, or, where one was deleted, after a while.
func (h nodeWriter) Routed(_ context.Context, a change.Await) (bool, error) {
	if err := h.moves(); err != nil {
		return false, err
	}
	n := h.w.node(a.Node)
	if n == nil || n.silent {
		return false, errNoAnswer
	}
	return slices.ContainsFunc(n.boxes, func(b *box) bool { return slices.Contains(b.ips, a.IP) && n.path(h.w, a.IP, b.link) == b.link }), nil
}

// returns creates the pod whose interface has that name, with all its steps at once.
func (w *world) returns(n *node, device string) {
	for i := range 4 {
		name := fmt.Sprintf("db-%d", i)
		if deviceName("shop", name) == device && w.kube.get(podRef("shop", name)) == nil && w.kube.get(nodeRef(n.name)) != nil && !n.cut {
			w.creates(name, n.name, "StatefulSet/db")
			w.settles(w.kubelets[len(w.kubelets)-1])
		}
	}
}
