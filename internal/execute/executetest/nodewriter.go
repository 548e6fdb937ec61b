package executetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A nodeWriter is the agents as they change their nodes.
type nodeWriter struct {
	*line
	byName bool // mutant: compare only the name of the interface
}

// NodeObject reads an interface of a node. Before it is changed a pod of the same name may be
// created, whose ADD creates an interface of the same name.
func (h nodeWriter) NodeObject(_ context.Context, node string, r model.Ref, args map[string]string) (model.Object, error) {
	if err := h.moves(); err != nil {
		return model.Object{}, err
	}
	n, l := h.find(node, r)
	if n == nil {
		return model.Object{}, errNoAnswer
	}
	if l == nil || strconv.Itoa(l.index) != args["index"] && !h.byName {
		return model.Object{Ref: r}, nil // an interface of that name with another index is another one
	}
	index := strconv.Itoa(l.index)
	if h.byName { // else the executor would see that it is another interface
		index = args["index"]
	}
	o := model.Object{Ref: r, Revision: l.digest(), Body: fmt.Appendf(nil, `{"name":%q,"index":%s}`, l.name, index)}
	if h.w.one(3) {
		h.w.returns(n, l.name)
	}
	return o, nil
}

// Change deletes an interface if it still is the one that was read.
func (h nodeWriter) Change(_ context.Context, node, verb string, thing model.Object, _ map[string]string, dryRun bool) (bool, error) {
	already := false
	err := h.writing(func() error {
		n, l := h.find(node, thing.Ref)
		switch {
		case n == nil:
			return errNoAnswer
		case verb != "unlink":
			return fmt.Errorf("%s: %w", verb, execute.ErrRefused)
		case l == nil:
			already = true
			return nil
		case l.digest() != thing.Revision && !h.byName:
			return fmt.Errorf("%s: %w", thing.Ref, execute.ErrStale)
		case dryRun:
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
	})
	return already, err
}

// Routed: the simulated Felix sets routes immediately.
func (h nodeWriter) Routed(_ context.Context, a change.Await) (bool, error) {
	if err := h.moves(); err != nil {
		return false, err
	}
	n := h.w.node(a.Node)
	if n == nil || n.silent {
		return false, errNoAnswer
	}
	return slices.ContainsFunc(n.boxes, func(b *box) bool { return slices.Contains(b.ips, a.IP) }), nil
}

func (h nodeWriter) find(on string, r model.Ref) (*node, *link) {
	n := h.w.node(on)
	if n == nil || n.silent {
		return nil, nil
	}
	name := strings.TrimPrefix(r.Name, on+"/")
	for _, l := range n.links {
		if l.name == name {
			return n, l
		}
	}
	return n, nil
}

func (l *link) digest() string { return fmt.Sprintf("%d %s %d", l.index, l.name, l.inode) }

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
