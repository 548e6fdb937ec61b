package load

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
)

// Calico's default: blocks of 64 addresses.
const (
	blockBits = 26
	blockSize = 64
)

// The pool is large enough for 65536 blocks and overlaps neither the lab's own pool
// nor its services.
const poolName = "load-ipv4-ippool"

var pool = netip.MustParsePrefix("10.128.0.0/10")

const poolBlocks = 1 << (blockBits - 10)

// addressAt returns the n-th address after the first.
func addressAt(first netip.Addr, n int) netip.Addr {
	a := first.As4()
	v := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	v += uint32(n)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

func blockCIDR(i int) netip.Prefix {
	return netip.PrefixFrom(addressAt(pool.Addr(), i*blockSize), blockBits)
}

// A block is an IPAM block of 64 addresses. The tags are those of the etcd value, in its
// order; the custom resource has the same fields.
type block struct {
	CIDR         string            `json:"cidr"`
	Affinity     string            `json:"affinity"`
	Allocations  []*int            `json:"allocations"`
	Unallocated  []int             `json:"unallocated"`
	Attributes   []attribute       `json:"attributes"`
	Sequence     uint64            `json:"sequenceNumber"`
	SequenceOf   map[string]uint64 `json:"sequenceNumberForAllocation"`
	Deleted      bool              `json:"deleted"`
	prefix       netip.Prefix
	uid          string
	createdNanos int64
}

// An attribute is the owner of an address.
type attribute struct {
	Handle    string            `json:"handle_id"`
	Secondary map[string]string `json:"secondary"`
}

// newBlock returns a block on a node where pods have started and ended: the free
// addresses are unordered, and some have the sequence number of their last owner.
func newBlock(r *rand.Rand, i int, h host) *block {
	p := blockCIDR(i)
	b := &block{
		CIDR: p.String(), Affinity: "host:" + h.name, Allocations: make([]*int, blockSize), Unallocated: r.Perm(blockSize),
		Attributes: []attribute{}, SequenceOf: map[string]uint64{}, prefix: p, uid: uid(r), createdNanos: h.created.UnixNano() + r.Int64N(1e9),
	}
	b.Sequence = uint64(b.createdNanos)
	for _, ord := range b.Unallocated[blockSize-8:] {
		b.SequenceOf[strconv.Itoa(ord)] = b.Sequence
		b.Sequence += 2 // it was assigned and released
	}
	return b
}

func (b *block) ordinal(a netip.Addr) int {
	return int(a.As4()[3]) - int(b.prefix.Addr().As4()[3])
}

// claim allocates the address to the owner. The allocation has the sequence number that
// the block had before the write.
func (b *block) claim(a netip.Addr, holder attribute) {
	ord, at := b.ordinal(a), len(b.Attributes)
	b.Unallocated = slices.DeleteFunc(b.Unallocated, func(o int) bool { return o == ord })
	b.Allocations[ord] = &at
	b.Attributes = append(b.Attributes, holder)
	b.SequenceOf[strconv.Itoa(ord)] = b.Sequence
	b.Sequence++
}
