package executetest

import (
	"maps"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
)

// A del is a CNI DEL of Calico's: annotation or endpoint, devices, then all that the
// handle holds. A handle that is not there is success, whatever the blocks hold.
type del struct {
	n       *node
	cid     string
	ns, pod string
	b       *box
	call    *call
	blocks  []string
	seen    *row
	then    step
}

func (d *del) begin(w *world, _ *task) step {
	d.call = d.n.begins(w, "DEL", d.cid)
	return d.recordRead
}

func (d *del) recordRead(w *world, _ *task) step {
	if w.etcd {
		d.seen = w.calico.get(endpointRef(d.n.calico, d.ns, d.pod))
		if d.seen == nil || !mine(d.seen.value.(*endpoint).spec.ContainerID.V, d.cid) {
			return d.unplug
		}
		return d.recordWrite
	}
	d.seen = w.kube.get(podRef(d.ns, d.pod))
	if d.seen == nil || !mine(d.seen.value.(*pod).ContainerID, d.cid) {
		return d.unplug
	}
	return d.recordWrite
}

// mine: Calico spares a record that names another container.
func mine(named, cid string) bool { return named == "" || named == cid }

func (d *del) recordWrite(w *world, _ *task) step {
	store, next := w.kube, (*row)(nil)
	if w.etcd {
		store = w.calico
	} else {
		p := *d.seen.value.(*pod)
		p.PodIP, p.PodIPs, p.Annotated = "", "", true
		next = &row{value: &p}
	}
	if _, ok := store.swap(others, d.seen.ref, d.seen, next); !ok {
		return d.recordRead
	}
	return d.unplug
}

func (d *del) unplug(_ *world, _ *task) step {
	if d.b != nil && d.b.netns {
		if l := d.n.linkOf(d.b); l != nil {
			d.n.unlink(l)
		}
		d.b.ips, d.b.link = nil, 0
	}
	return d.handleRead
}

func (d *del) handleRead(w *world, _ *task) step {
	r := w.calico.get(handleRef(handleOf(d.cid)))
	if r == nil {
		return d.end
	}
	d.blocks = slices.Sorted(maps.Keys(r.value.(*object.Handle).Block.V))
	return d.nextBlock
}

func (d *del) nextBlock(w *world, _ *task) step {
	if len(d.blocks) == 0 {
		return d.end
	}
	cidr := netip.MustParsePrefix(d.blocks[0])
	d.seen = w.calico.get(blockRef(cidr))
	if d.seen == nil || countOf(d.seen.value.(*object.Block), handleOf(d.cid)) == 0 {
		d.blocks = d.blocks[1:] // and the handle keeps its count for ever
		return d.nextBlock
	}
	return d.freeBlock
}

func (d *del) freeBlock(w *world, _ *task) step {
	b := d.seen.value.(*object.Block)
	next := free(b, false, ordinals(b, handleOf(d.cid))...)
	r := &row{value: next}
	if empty(next) && next.Affinity.V == "" {
		r = nil
	}
	if _, ok := w.calico.swap(others, d.seen.ref, d.seen, r); !ok {
		return d.nextBlock
	}
	return d.uncountRead
}

func (d *del) uncountRead(w *world, _ *task) step {
	d.seen = w.calico.get(handleRef(handleOf(d.cid)))
	if d.seen == nil {
		d.blocks = d.blocks[1:]
		return d.nextBlock
	}
	return d.uncountWrite
}

func (d *del) uncountWrite(w *world, _ *task) step {
	h := d.seen.value.(*object.Handle)
	if next := counted(h, d.blocks[0], -1); next != nil {
		if _, ok := w.calico.swap(others, d.seen.ref, d.seen, &row{value: next}); !ok {
			return d.uncountRead
		}
		d.blocks = d.blocks[1:]
		return d.nextBlock
	}
	if w.etcd {
		if _, ok := w.calico.swap(others, d.seen.ref, d.seen, nil); !ok {
			return d.uncountRead
		}
		return d.end
	}
	// Custom resources are deleted in two writes.
	marked := *h
	marked.Deleted = lossless.Some(true)
	now, ok := w.calico.swap(others, d.seen.ref, d.seen, &row{value: &marked})
	if !ok {
		return d.uncountRead
	}
	return func(w *world, _ *task) step {
		if r := w.calico.get(now.ref); r != nil && r.uid == now.uid {
			w.calico.swap(others, now.ref, r, nil)
		}
		return d.end
	}
}

func (d *del) end(_ *world, _ *task) step {
	d.n.ends(d.call)
	d.n.cache = slices.DeleteFunc(d.n.cache, func(c cached) bool { return c.cid == d.cid })
	return d.then
}
