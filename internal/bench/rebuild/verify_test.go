//go:build e2e

package rebuild

import (
	"fmt"
	"slices"
	"testing"
)

// complaints are limited: one mistake appears thousands of times.
type complaints struct {
	t     *testing.T
	count map[string]int
}

func (c *complaints) add(kind, format string, args ...any) {
	if c.count == nil {
		c.count = map[string]int{}
	}
	if c.count[kind]++; c.count[kind] <= 3 {
		c.t.Errorf("%s: %s", kind, fmt.Sprintf(format, args...))
	}
}

func (c *complaints) close() {
	for kind, n := range c.count {
		if n > 3 {
			c.t.Errorf("%s: %d in total", kind, n)
		}
	}
}

// judge compares IPAM with the running pods and the faults. On a node whose agent did
// not answer, no allocation was released; no handle counts too little; a handle counts
// too much only if its repair was refused.
func (c *cluster) judge(t *testing.T, broken map[string]*wreck, done *plan, after *ipam) {
	t.Helper()
	says := &complaints{t: t}
	defer says.close()
	held := map[string]map[string]int{} // by handle and block
	for _, h := range c.hosts {
		b, w := &after.blocks[h.name].Spec, broken[h.name]
		for id, n := range b.held() {
			if held[id] == nil {
				held[id] = map[string]int{}
			}
			held[id][b.CIDR] = n
		}
		if wrong := b.contradiction(); wrong != "" && (!h.mute || !w.hidden.IsValid()) {
			says.add("block", "%s of %s: %s", b.CIDR, h.name, wrong)
		}
		for id, ip := range w.dead {
			switch now := b.holder(b.ordinal(ip)); {
			case h.mute && now != id:
				says.add("freed on a node without an answer", "%s of %s, now %q", ip, h.name, now)
			case !h.mute && (now == id || after.handles[id] != nil):
				says.add("not freed", "%s of %s", ip, h.name)
			}
		}
		for _, p := range h.pods {
			ip := p.IPs[0]
			now, want := b.holder(b.ordinal(ip)), handleOf(p.ContainerID)
			lost := slices.Contains(w.lost, ip) || ip == w.hidden
			switch {
			case ip == w.hidden && slices.Contains(b.Unallocated, b.ordinal(ip)):
				says.add("free for a second owner", "%s of %s, which was not free before", ip, p.Ref())
			case !h.mute && now != want:
				says.add("running pod", "%s of %s is allocated to %q, want %q", ip, p.Ref(), now, want)
			case h.mute && lost && now != "":
				says.add("allocated on a node without an answer", "%s to %q", ip, now)
			case h.mute && !lost && now == "":
				says.add("freed on a node without an answer", "%s of %s", ip, p.Ref())
			case h.mute && !lost && now != want && !w.crooked:
				says.add("reallocated on a node without an answer", "%s of %s is allocated to %q", ip, p.Ref(), now)
			}
		}
	}
	judgeHandles(says, held, done, after)
}

func judgeHandles(says *complaints, held map[string]map[string]int, done *plan, after *ipam) {
	left := map[string]bool{}
	for _, f := range done.Refused {
		left[f.Finding] = true
	}
	for id, blocks := range held {
		for cidr, n := range blocks {
			if h := after.handles[id]; h == nil || h.Spec.Block[cidr] < n {
				says.add("handle counts too little", "%s in %s: %v, allocated %d", id, cidr, h, n)
			}
		}
	}
	for id, h := range after.handles {
		for cidr, n := range h.Spec.Block {
			if n > held[id][cidr] && !left["PL1006/"+id] {
				says.add("handle counts too much", "%s in %s: %d, allocated %d", id, cidr, n, held[id][cidr])
			}
		}
	}
}

// contradiction describes an inconsistency inside a block.
func (b *blockSpec) contradiction() string {
	used := make([]bool, len(b.Attributes))
	for n, at := range b.Allocations {
		free := 0
		for _, u := range b.Unallocated {
			if u == n {
				free++
			}
		}
		switch {
		case at == nil && free != 1:
			return fmt.Sprintf("ordinal %d is not allocated, and free %d times", n, free)
		case at != nil && free != 0:
			return fmt.Sprintf("ordinal %d is allocated and free", n)
		case at != nil && (*at < 0 || *at >= len(b.Attributes)):
			return fmt.Sprintf("ordinal %d is allocated with an invalid attribute index", n)
		case at != nil:
			used[*at] = true
		}
	}
	if n := slices.Index(used, false); n >= 0 {
		return fmt.Sprintf("attribute %d (%s) is not used", n, b.Attributes[n].Handle)
	}
	return ""
}
