// Package capacity counts the addresses of pools, and tells when a pool will be empty.
package capacity

import (
	"net/netip"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A Pool is how many addresses and blocks of a pool are used.
type Pool struct {
	Name       string
	Addresses  int // in all, at most Many
	Used       int // allocated, and not known to be leaked
	Leaked     int // confirmed (PL1001)
	Free       int
	Blocks     int // in all, at most Many
	UsedBlocks int
	Disabled   bool
	Kept       int  // by IPReservations, and not allocated
	Idle       bool // nothing is assigned from it on its own: it is disabled, or made for certain Services
}

// Many is what is told of pools with more addresses or blocks: nobody runs out of them.
const Many = 1 << 30

// Pools counts the pools of a report; ok is false if pools or blocks were not read.
func Pools(r *audit.Report) (out []Pool, ok bool) {
	v := r.View
	if !v.State(model.Pools, "").Seen() || !v.State(model.Blocks, "").Seen() {
		return nil, false
	}
	leaked := leakedIn(r)
	for row := range int32(v.Rows(model.Pools)) {
		p := v.Pool(row)
		use := v.PoolUse(row)
		lost := min(leaked[p.Name], use.Held)
		one := Pool{
			Name: p.Name, Disabled: p.Disabled, Idle: p.Disabled || p.ForCertain(), Addresses: model.Size(p.CIDR, Many), Leaked: lost, Used: use.Held - lost,
			UsedBlocks: use.Blocks, Blocks: blocksOf(p),
		}
		kept, held := v.Kept(p.CIDR)
		one.Kept = kept - held
		one.Free = max(0, one.Addresses-use.Held-one.Kept)
		out = append(out, one)
	}
	return out, true
}

func blocksOf(p *model.Pool) int {
	bits := p.BlockSize - p.CIDR.Bits()
	switch {
	case bits < 0:
		return 0
	case bits > 30:
		return Many
	default:
		return 1 << bits
	}
}

// leakedIn counts confirmed leaks by pool, also those that are suppressed or shown under another.
func leakedIn(r *audit.Report) map[string]int {
	out := map[string]int{}
	for _, list := range [][]finding.Finding{r.Findings, r.Suppressed, r.Folded} {
		for i := range list {
			f := &list[i]
			if f.Code != finding.PL1001 || f.Class != finding.Leak || f.State != finding.Confirmed {
				continue
			}
			if ip, err := netip.ParseAddr(f.Subject.Name); err == nil {
				if p := r.View.PoolWith(ip); p != nil {
					out[p.Name]++
				}
			}
		}
	}
	return out
}
