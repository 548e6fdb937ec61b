package load

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// kddObjects returns the objects of a node if Calico's datastore is KDD: all of them in
// Kubernetes' etcd.
func kddObjects(c *cell) ([]put, error) {
	puts, err := coreObjects(c, true)
	add := func(p put, e error) {
		puts, err = append(puts, p), errors.Join(err, e)
	}
	for _, b := range c.blocks {
		add(b.resource(c.plan.Now))
	}
	for _, h := range c.handles {
		add(h.resource())
	}
	for _, a := range c.affinities {
		add(a.resource())
	}
	return puts, err
}

// coreObjects returns the node and its pods; with annotations, if Calico's datastore is
// KDD.
func coreObjects(c *cell, annotated bool) (puts []put, err error) {
	add := func(p put, e error) {
		puts, err = append(puts, p), errors.Join(err, e)
	}
	add(storedNode(c.host, annotated, c.plan.Now))
	for _, p := range c.pods {
		add(storedPod(p, annotated))
	}
	return puts, err
}

// blockSpec has the fields of a block in alphabetical order.
type blockSpec struct {
	Affinity       string            `json:"affinity"`
	Allocations    []*int            `json:"allocations"`
	Attributes     []attribute       `json:"attributes"`
	CIDR           string            `json:"cidr"`
	Deleted        bool              `json:"deleted"`
	Sequence       uint64            `json:"sequenceNumber"`
	SequenceOf     map[string]uint64 `json:"sequenceNumberForAllocation"`
	StrictAffinity bool              `json:"strictAffinity"`
	Unallocated    []int             `json:"unallocated"`
}

func (b *block) resource(now time.Time) (put, error) {
	var ordinals strings.Builder
	for _, ord := range slices.Sorted(maps.Keys(b.SequenceOf)) {
		ordinals.WriteString(`,"f:` + ord + `":{}`)
	}
	created := time.Unix(0, b.createdNanos).UTC()
	return storedResource(identity{
		kind: "IPAMBlock", plural: "ipamblocks", name: dashed(b.prefix), uid: b.uid, created: created, changed: now.Add(-time.Hour),
		generation: int(b.Sequence-uint64(b.createdNanos)) + 1,
		fields: `"f:affinity":{},"f:allocations":{},"f:attributes":{},"f:cidr":{},"f:deleted":{},"f:sequenceNumber":{},` +
			`"f:sequenceNumberForAllocation":{".":{}` + ordinals.String() + `},"f:strictAffinity":{},"f:unallocated":{}`,
	}, blockSpec{b.Affinity, b.Allocations, b.Attributes, b.CIDR, b.Deleted, b.Sequence, b.SequenceOf, false, b.Unallocated})
}

type handleSpec struct {
	Block    map[string]int `json:"block"`
	Deleted  bool           `json:"deleted"`
	HandleID string         `json:"handleID"`
}

func (h handle) resource() (put, error) {
	return storedResource(identity{
		kind: "IPAMHandle", plural: "ipamhandles", name: strings.ToLower(h.id), uid: h.uid, created: h.created, changed: h.created, generation: h.count,
		fields: fmt.Sprintf(`"f:block":{".":{},"f:%s":{}},"f:deleted":{},"f:handleID":{}`, h.block),
	}, handleSpec{map[string]int{h.block: h.count}, false, h.id})
}

type affinitySpec struct {
	CIDR    string `json:"cidr"`
	Deleted string `json:"deleted"`
	Node    string `json:"node"`
	State   string `json:"state"`
	Type    string `json:"type"`
}

func (a affinity) resource() (put, error) {
	return storedResource(identity{
		kind: "BlockAffinity", plural: "blockaffinities", name: a.node + "-" + dashed(a.block), uid: a.uid, created: a.created, changed: a.created, generation: 2,
		labels: map[string]string{
			"projectcalico.org/affinity-type": "host", "projectcalico.org/hostname-hash": hostHash(a.node), "projectcalico.org/ip-version": "4",
		},
		fields: `"f:cidr":{},"f:deleted":{},"f:node":{},"f:state":{},"f:type":{}`,
	}, affinitySpec{a.block.String(), "false", a.node, "confirmed", "host"})
}
