package calico

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/model"
)

// An arena keeps the parts of many rows close together in memory. It is not safe for
// concurrent use.
type arena struct {
	text       model.Text
	names      model.Interner
	node       string // the last one: all addresses of a block are on it
	counts     model.Slab[model.BlockCount]
	slots      model.Slab[model.Slot]
	free       model.Slab[int32]
	attributes model.Slab[model.Attribute]
	sequences  model.Slab[model.Sequence]
	addrs      model.Slab[netip.Addr]
	block      blockScan
}

func newArena() *arena { return &arena{names: model.Interner{}} }

// orNew is for callers that read a single object.
func (k *arena) orNew() *arena {
	if k == nil {
		return newArena()
	}
	return k
}

// own keeps a string that no other row has.
func (k *arena) own(b []byte) string { return k.text.Of(b) }

// shared keeps a string that many rows have.
func (k *arena) shared(b []byte) string { return k.names.Bytes(b) }

// on keeps the name of a node.
func (k *arena) on(b []byte) string {
	if string(b) != k.node {
		k.node = k.text.Of(b)
	}
	return k.node
}
