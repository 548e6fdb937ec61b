//go:build e2e

package rebuild

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// The faults in every block.
const (
	leaks  = 3 // allocated to pods that are gone
	freed  = 2 // free although a running pod uses it: one of them with its handle, one without
	counts = 2 // handles of running pods: one counts too much, one is gone
)

// A wreck has the faults of one node's IPAM records.
type wreck struct {
	dead    map[string]netip.Addr // by handle
	lost    []netip.Addr          // free, but used by running pods
	hidden  netip.Addr            // neither allocated nor free, used by a running pod
	crooked bool
}

// wreck breaks every block directly at the API server, and returns the faults of each
// node.
func (c *cluster) wreck(t *testing.T, r *report) map[string]*wreck {
	t.Helper()
	began := time.Now()
	l := c.read(t)
	out := map[string]*wreck{}
	for _, h := range c.hosts {
		out[h.name] = &wreck{dead: map[string]netip.Addr{}}
	}
	var writes atomic.Int64
	every := max(1, *nodes / *crooked)
	each(t, c.hosts, func(ctx context.Context, h *host) error {
		i := slices.Index(c.hosts, h)
		random := rand.New(rand.NewPCG(*seed, uint64(i)))
		w := out[h.name]
		n, err := c.spoil(ctx, l, h, w, random, i%every == 1%every, (i/every+i/every/4)%4)
		writes.Add(int64(n))
		return err
	})
	r.add("broken by hand", short(time.Since(began)), fmt.Sprintf("%d writes: %d leaks, %d free but in use, %d handles miscounted or gone, %d blocks inconsistent",
		writes.Load(), leaks**nodes, freed**nodes, counts**nodes, (*nodes+every-2)/every))
	return out
}

// spoil breaks the records of one node.
func (c *cluster) spoil(ctx context.Context, l *ipam, h *host, w *wreck, random *rand.Rand, crook bool, kind int) (writes int, err error) {
	b := l.blocks[h.name]
	order := random.Perm(len(h.pods))
	victim := func(i int) (netip.Addr, string) {
		p := h.pods[order[i]]
		return p.IPs[0], handleOf(p.ContainerID)
	}
	do := func(e error) {
		if writes++; err == nil {
			err = e
		}
	}
	for i := range freed {
		ip, id := victim(i)
		b.Spec.free(ip)
		w.lost = append(w.lost, ip)
		if i == 0 {
			do(c.remove(ctx, "ipamhandles", strings.ToLower(id)))
		}
	}
	_, over := victim(freed)
	l.handles[over].Spec.Block[b.Spec.CIDR] = 3
	do(put(ctx, c, "ipamhandles", l.handles[over]))
	_, gone := victim(freed + 1)
	do(c.remove(ctx, "ipamhandles", strings.ToLower(gone)))
	for i := range leaks {
		id := fmt.Sprintf("%s.%s", network, containerID(random))
		ip := b.Spec.hold(attribute{id, map[string]string{
			"namespace": h.pods[0].Namespace, "node": h.name, "pod": fmt.Sprintf("gone-%d-%s", i, h.name), "timestamp": time.Now().Add(-24 * time.Hour).UTC().String(),
		}})
		w.dead[id] = ip
		do(create(ctx, c, "ipamhandles", &handle{
			APIVersion: "crd.projectcalico.org/v1", Kind: "IPAMHandle", Metadata: map[string]any{"name": id}, Spec: handleSpec{Block: map[string]int{b.Spec.CIDR: 1}, ID: id},
		}))
	}
	if w.crooked = crook; crook {
		ip, _ := victim(freed + counts)
		if b.Spec.crook(kind, ip); b.Spec.Allocations[b.Spec.ordinal(ip)] == nil {
			w.hidden = ip
		}
	}
	do(put(ctx, c, "ipamblocks", b))
	return writes, err
}

// free releases an address as Calico does.
func (b *blockSpec) free(ip netip.Addr) {
	n := b.ordinal(ip)
	gone := *b.Allocations[n]
	b.Allocations[n] = nil
	b.Unallocated = append(b.Unallocated, n)
	delete(b.SequenceOf, strconv.Itoa(n))
	b.Attributes = slices.Delete(b.Attributes, gone, gone+1)
	for i, at := range b.Allocations {
		if at != nil && *at > gone {
			b.Allocations[i] = new(*at - 1)
		}
	}
	b.Sequence++
}

// hold allocates a free address. Addresses of running pods are skipped, whatever the
// block has: that would be another fault, and a worse one.
func (b *blockSpec) hold(a attribute) netip.Addr {
	n := b.Unallocated[0]
	b.Unallocated = b.Unallocated[1:]
	b.Allocations[n] = new(len(b.Attributes))
	b.Attributes = append(b.Attributes, a)
	b.SequenceOf[strconv.Itoa(n)] = b.Sequence
	b.Sequence++
	first := netip.MustParsePrefix(b.CIDR).Addr().As4()
	first[3] += byte(n)
	return netip.AddrFrom4(first)
}

// crook makes the block inconsistent, in one of four ways.
func (b *blockSpec) crook(kind int, ip netip.Addr) {
	n := b.ordinal(ip)
	switch kind {
	case 0: // free and allocated at once
		b.Unallocated = append(b.Unallocated, n)
	case 1: // neither free nor allocated, although a running pod uses it: nobody gets it until that changes
		b.free(ip)
		b.Unallocated = b.Unallocated[:len(b.Unallocated)-1]
	case 2: // an unused attribute
		b.Attributes = append(b.Attributes, attribute{network + "." + strings.Repeat("ab", 32), map[string]string{"note": "left behind"}})
	default: // allocated with an invalid attribute index
		b.Allocations[n] = new(len(b.Attributes) + 7)
	}
}

func containerID(random *rand.Rand) string {
	var raw [32]byte
	for i := range raw {
		raw[i] = byte(random.Uint32())
	}
	return hex.EncodeToString(raw[:])
}
