package detect

import (
	"fmt"
	"strings"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// PL1004 finds blocks whose lists contradict each other.
var PL1004 = &Detector{
	Code: finding.PL1004, Title: "block structure broken", Severity: finding.Error, Class: finding.Now,
	Each:    []model.Table{model.Blocks},
	Needs:   []model.Table{model.Blocks},
	Applies: ipamMayBeCalicos, Since: "0.1", Run: brokenBlock,
}

func brokenBlock(p *Pass, _ model.Table, row int32) {
	b := p.Block(row)
	faults := append(indexFaults(b), listFaults(b)...)
	faults = append(faults, identityFaults(b)...)
	if len(faults) == 0 {
		return
	}
	f := finding.Finding{Subject: b.Ref(), Node: b.Node(), Summary: faults[0]}
	if len(faults) == 1 && b.Deleted {
		f.Class = finding.Transient // Calico deletes in two writes; this may be between them
	}
	if more := len(faults) - 1; more > 0 {
		f.Summary += fmt.Sprintf(" (and %d more)", more)
	}
	for i, s := range faults {
		if i == 8 {
			break
		}
		f.Evidence = append(f.Evidence, blockSays(b, s))
	}
	p.Report(f)
}

// indexFaults checks that every allocated ordinal points to an attribute, and every attribute
// is used. An index that points to no attribute makes calico-kube-controllers crash, which
// stops the IPAM garbage collector for the whole cluster.
func indexFaults(b *model.Block) []string {
	var out []string
	size := model.Size(b.CIDR, 1<<12)
	if b.Length != size {
		out = append(out, fmt.Sprintf("has %d ordinals, want %d", b.Length, size))
	}
	used := make([]bool, len(b.Attributes))
	for _, s := range b.Held {
		switch {
		case s[1] < 0 || int(s[1]) >= len(b.Attributes):
			out = append(out, fmt.Sprintf("#%d points at attribute %d of %d", s[0], s[1], len(b.Attributes)))
		default:
			used[s[1]] = true
		}
	}
	for i, yes := range used {
		if !yes {
			out = append(out, fmt.Sprintf("attribute %d (%s) is used by no ordinal", i, short(b.Attributes[i].Handle)))
		}
	}
	return out
}

// listFaults checks that every ordinal is either allocated or in the free list, once.
func listFaults(b *model.Block) []string {
	var out []string
	const held, free = 1, 2
	seen, different := make([]uint8, b.Length), 0
	for _, s := range b.Held {
		if s[0] >= 0 && int(s[0]) < b.Length {
			seen[s[0]] = held
			different++
		}
	}
	for _, o := range b.Free {
		switch {
		case o < 0 || int(o) >= b.Length:
			out = append(out, fmt.Sprintf("free list contains #%d, which is outside the block", o))
		case seen[o] == held:
			out = append(out, fmt.Sprintf("#%d is allocated and in the free list", o))
		case seen[o] == free:
			out = append(out, fmt.Sprintf("free list contains #%d twice", o))
		default:
			seen[o] = free
			different++
		}
	}
	if missing := b.Length - different; missing > 0 {
		out = append(out, fmt.Sprintf("%d ordinals are neither allocated nor free", missing))
	}
	return out
}

// identityFaults checks that no sequence number is above the block's own, no attribute is
// stored twice or without a handle, and the block has the name of its CIDR and is not left
// half deleted.
func identityFaults(b *model.Block) []string {
	var out []string
	for _, q := range b.Sequences {
		if q.Number > b.Sequence {
			out = append(out, fmt.Sprintf("#%d has sequence number %d, above the block's own %d", q.Ordinal, q.Number, b.Sequence))
		}
	}
	seen := make(map[model.Attribute]int, len(b.Attributes))
	for i, at := range b.Attributes {
		if first, ok := seen[at]; ok && at.Handle != "" {
			out = append(out, fmt.Sprintf("attributes %d and %d are equal", first, i))
		}
		seen[at] = i
		if at.Handle == "" && !at.Cooling && at != (model.Attribute{}) {
			out = append(out, fmt.Sprintf("attribute %d has no handle", i))
		}
	}
	if b.CIDR != b.CIDR.Masked() {
		out = append(out, "its CIDR is not aligned")
	}
	if b.Name != "" && b.Name != model.BlockName(b.CIDR) {
		out = append(out, fmt.Sprintf("is named %s", b.Name))
	}
	if b.Deleted {
		out = append(out, "is marked deleted, but still exists")
	}
	return out
}

// short shortens the container ID in a handle to eight digits.
func short(handle string) string {
	if id := model.ContainerOf(handle); len(id) > 8 {
		return strings.TrimSuffix(handle, id) + id[:8]
	}
	return orDash(handle)
}
