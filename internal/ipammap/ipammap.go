// Package ipammap is the map of IPAM: pools, their blocks, and one letter for each address. Pure.
package ipammap

import (
	"cmp"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// What an address is: the letters of a block's Cells.
const (
	free       = 'f'
	used       = 'u'
	tunnel     = 't'
	reserved   = 'r'
	cooling    = 'c'
	leaked     = 'l'
	unrecorded = 'n'
	duplicate  = 'd'
	wrong      = 'w'
	maybe      = 'm'
)

// Kinds are the letters and what they mean, as a legend shows them.
var Kinds = []struct{ Letter, Name string }{
	{string(rune(used)), "used"},
	{string(rune(tunnel)), "tunnel"},
	{string(rune(reserved)), "reserved"},
	{string(rune(cooling)), "in cooldown"},
	{string(rune(leaked)), "leaked"},
	{string(rune(unrecorded)), "used, not recorded"},
	{string(rune(duplicate)), "duplicate"},
	{string(rune(wrong)), "recorded for another"},
	{string(rune(maybe)), "one of these, not confirmed yet"},
	{string(rune(free)), "free"},
}

// A Map is all blocks.
type Map struct {
	Nodes []string `json:"nodes"`
	Pools []Pool   `json:"pools"`
	Cut   int      `json:"cut,omitempty"` // blocks that are left out: there are too many to draw
}

// A Pool has the blocks of an IPPool; the last has those of none.
type Pool struct {
	Name   string  `json:"name"`
	CIDR   string  `json:"cidr"`
	Blocks []Block `json:"blocks"`
}

// A Block has a letter for each of its addresses.
type Block struct {
	CIDR  string `json:"cidr"`
	Node  int    `json:"node"` // of Nodes; -1: none
	Cells string `json:"cells"`
}

// mostBlocks bounds a map; mostCells a block of it.
const (
	mostBlocks = 50_000
	mostCells  = 1 << 12 // Calico's largest is a /20
)

// A sign is the letter that findings of a code give an address.
type sign struct {
	code   finding.Code
	letter byte
}

// signs are all of them; the later one holds.
var signs = []sign{
	{finding.PL1001, leaked}, {finding.PL1003, wrong}, {finding.PL1002, unrecorded}, {finding.PL2010, duplicate},
}

// Of draws the map of a report.
func Of(r *audit.Report) *Map {
	v := r.View
	m := &Map{Nodes: []string{}, Pools: []Pool{}}
	found := found(r)
	nodes := map[string]int{}
	pools := map[string]int{}
	for i := range v.Rows(model.Pools) {
		p := v.Pool(int32(i))
		pools[p.Name] = len(m.Pools)
		m.Pools = append(m.Pools, Pool{Name: plain.Line(p.Name), CIDR: p.CIDR.String(), Blocks: []Block{}})
	}
	none := -1
	for i := range v.Rows(model.Blocks) {
		if i >= mostBlocks {
			m.Cut = v.Rows(model.Blocks) - mostBlocks
			break
		}
		b := v.Block(int32(i))
		at := none
		if p := v.PoolAround(b.CIDR); p != nil {
			at = pools[p.Name]
		} else if none < 0 {
			none, at = len(m.Pools), len(m.Pools)
			m.Pools = append(m.Pools, Pool{Name: "in no pool", Blocks: []Block{}})
		}
		m.Pools[at].Blocks = append(m.Pools[at].Blocks, Block{b.CIDR.String(), m.node(nodes, b.Node()), cells(b, found)})
	}
	return m
}

func (m *Map) node(seen map[string]int, name string) int {
	if name == "" {
		return -1
	}
	i, ok := seen[name]
	if !ok {
		i = len(m.Nodes)
		seen[name] = i
		m.Nodes = append(m.Nodes, plain.Line(name))
	}
	return i
}

// found are the addresses that findings are about. One that is not confirmed is neither free nor used, as far as is known.
func found(r *audit.Report) map[netip.Addr]byte {
	out := map[netip.Addr]byte{}
	for _, fs := range [][]finding.Finding{r.Unconfirmed, r.Findings, r.Folded} {
		for i := range fs {
			if f := &fs[i]; f.State != finding.Confirmed && slices.ContainsFunc(signs, func(s sign) bool { return s.code == f.Code }) {
				if ip, err := netip.ParseAddr(f.Subject.Name); err == nil {
					out[ip] = maybe
				}
			}
		}
	}
	for _, s := range signs {
		for _, fs := range [][]finding.Finding{r.Findings, r.Folded, r.Suppressed} {
			for i := range fs {
				if f := &fs[i]; f.Code == s.code && f.State == finding.Confirmed {
					if ip, err := netip.ParseAddr(f.Subject.Name); err == nil {
						out[ip] = s.letter
					}
				}
			}
		}
	}
	return out
}

func cells(b *model.Block, found map[netip.Addr]byte) string {
	size := model.Size(b.CIDR, mostCells)
	out := make([]byte, size)
	for i := range out {
		out[i] = free
	}
	for _, slot := range b.Held {
		if slot[0] < 0 || int(slot[0]) >= size {
			continue
		}
		out[slot[0]] = used
		if at := int(slot[1]); at >= 0 && at < len(b.Attributes) {
			switch a := &b.Attributes[at]; {
			case a.Cooling:
				out[slot[0]] = cooling
			case a.Tunnel():
				out[slot[0]] = tunnel
			case a.Handle == model.WindowsHandle:
				out[slot[0]] = reserved
			}
		}
	}
	for i := range out {
		if letter := found[model.Offset(b.CIDR, int32(i))]; letter != 0 {
			out[i] = letter
		}
	}
	return string(out)
}

// A Bad block has addresses that findings are about.
type Bad struct {
	CIDR, Node string
	Count      int
}

// Worst are the blocks with the most addresses that findings are about.
func Worst(r *audit.Report, most int) []Bad {
	n := map[string]*Bad{}
	for ip := range found(r) {
		for b := range r.View.BlocksWith(ip) {
			k := b.CIDR.String()
			if n[k] == nil {
				n[k] = &Bad{CIDR: k, Node: b.Node()}
			}
			n[k].Count++
		}
	}
	var out []Bad
	for _, b := range n {
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, b Bad) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.CIDR, b.CIDR)) })
	return out[:min(len(out), most)]
}
