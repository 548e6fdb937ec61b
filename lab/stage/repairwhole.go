package stage

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

const (
	intactWithin = 20 * time.Second
	// holdPrefix begins the handle under which the product parks an address between two writes.
	holdPrefix = "plumbline-hold."
)

// Intact wants a ledger in which nothing is half done: every handle counts what the blocks
// hold, no allocation is without its handle, and nothing is held for the time being.
func (s *Stage) Intact(ctx context.Context) error {
	// A pod may come or go between the two reads: twice the same is a fault.
	return lab.Eventually(ctx, intactWithin, func(ctx context.Context) error {
		blocks, err := s.Blocks(ctx)
		if err != nil {
			return err
		}
		handles, err := s.Handles(ctx)
		if err != nil {
			return err
		}
		return intact(blocks, handles)
	})
}

func intact(blocks []Block, handles []Handle) error {
	held := map[string]map[string]int{} // by handle, by block
	var all error
	for _, b := range blocks {
		for _, i := range b.Allocations {
			if i == nil || *i >= len(b.Attributes) {
				continue
			}
			h := strings.ToLower(b.Attributes[*i].Handle)
			if held[h] == nil {
				held[h] = map[string]int{}
			}
			held[h][b.CIDR]++
		}
	}
	for _, h := range handles {
		id := strings.ToLower(h.ID)
		for cidr, n := range h.Block {
			all = errors.Join(all, Expect(held[id][cidr] == n, "handle %s to count what %s holds, %d, got %d", h.ID, cidr, held[id][cidr], n))
			delete(held[id], cidr)
		}
		all = errors.Join(all, Expect(!strings.HasPrefix(id, holdPrefix), "nothing held for the time being, got %s", h.ID))
	}
	for h, left := range held {
		for cidr, n := range left {
			all = errors.Join(all, Expect(false, "a handle %q for %d addresses of %s", h, n, cidr))
		}
	}
	return all
}

// Unique wants every address with one living pod, and each living pod of the namespaces
// recorded under its own name.
func (s *Stage) Unique(ctx context.Context, namespaces ...string) error {
	pods, err := s.Pods(ctx, "", "")
	if err != nil {
		return err
	}
	by := map[string]string{}
	var all error
	for _, p := range pods {
		ip := p.Status.PodIP
		if ip == "" || p.Spec.HostNetwork || p.Status.Phase != "Running" || p.Metadata.DeletionTimestamp != "" {
			continue
		}
		name := p.Metadata.Namespace + "/" + p.Metadata.Name
		all = errors.Join(all, Expect(by[ip] == "", "%s with one pod, it is %s and %s", ip, by[ip], name))
		by[ip] = name
	}
	blocks, err := s.Blocks(ctx)
	if err != nil {
		return err
	}
	for ip, name := range by {
		ns, pod, _ := strings.Cut(name, "/")
		if !slices.Contains(namespaces, ns) {
			continue
		}
		var owner Attribute
		for _, b := range blocks {
			if a, ok := b.Owner(ip); ok {
				owner = a
			}
		}
		all = errors.Join(all, Expect(owner.Secondary["namespace"] == ns && owner.Secondary["pod"] == pod, "%s held for %s, got %v", ip, name, owner))
	}
	return all
}
