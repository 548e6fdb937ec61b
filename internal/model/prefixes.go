package model

import (
	"iter"
	"net/netip"
	"slices"
)

// prefixes finds the CIDRs that contain an address or another CIDR, with one look-up for each
// prefix length that occurs. Keys are masked.
type prefixes struct {
	index[netip.Prefix]
	bits [2][]int // prefix lengths that occur, by IP family, longest first
}

func family(a netip.Addr) int {
	if a.Is4() {
		return 0
	}
	return 1
}

// put adds a row; call it in descending order of rows, like add. Invalid CIDRs are skipped.
func (x *prefixes) put(p netip.Prefix, row int) {
	if !p.IsValid() {
		return
	}
	x.add(p.Masked(), row)
	f := family(p.Addr())
	if !slices.Contains(x.bits[f], p.Bits()) {
		x.bits[f] = append(x.bits[f], p.Bits())
		slices.SortFunc(x.bits[f], func(a, b int) int { return b - a })
	}
}

// around yields the rows whose CIDR contains all of p, the longest prefix first.
func (x *prefixes) around(p netip.Prefix) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, n := range x.bits[family(p.Addr())] {
			if n > p.Bits() {
				continue
			}
			q, err := p.Addr().Prefix(n)
			if err != nil {
				return
			}
			for row := range x.rows(q) {
				if !yield(row) {
					return
				}
			}
		}
	}
}

func host(a netip.Addr) netip.Prefix { return netip.PrefixFrom(a, a.BitLen()) }

// Offset returns the address n after the first of p.
func Offset(p netip.Prefix, n int32) netip.Addr {
	a := p.Masked().Addr()
	if a.Is4() {
		b := a.As4()
		carry(b[:], n)
		return netip.AddrFrom4(b)
	}
	b := a.As16()
	carry(b[:], n)
	return netip.AddrFrom16(b)
}

// carry adds n to the big-endian number b.
func carry(b []byte, n int32) {
	sum := uint32(n)
	for i := len(b) - 1; i >= 0 && sum > 0; i-- {
		sum += uint32(b[i])
		b[i] = byte(sum)
		sum >>= 8
	}
}

// Size is the number of addresses in p, or most if there are more.
func Size(p netip.Prefix, most int) int {
	n := p.Addr().BitLen() - p.Bits()
	if !p.IsValid() || n < 0 {
		return 0
	}
	if n > 30 || 1<<n > most {
		return most
	}
	return 1 << n
}
