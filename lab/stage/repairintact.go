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
	// holdPrefix is the prefix of the handle with which the product holds an address between
	// two writes.
	holdPrefix = "plumbline-hold."
)

// Intact requires IPAM records without incomplete writes: every handle counts what the
// blocks allocate, no allocation is without its handle, and no address is held between
// two writes.
func (s *Stage) Intact(ctx context.Context) error {
	// A pod may start or end between the two reads: the same result twice is a fault.
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
			all = errors.Join(all, Expect(held[id][cidr] == n, "handle %s to count what %s allocates, %d, got %d", h.ID, cidr, held[id][cidr], n))
			delete(held[id], cidr)
		}
		all = errors.Join(all, Expect(!strings.HasPrefix(id, holdPrefix), "nothing held temporarily, got %s", h.ID))
	}
	for h, left := range held {
		for cidr, n := range left {
			all = errors.Join(all, Expect(false, "a handle %q for %d addresses of %s", h, n, cidr))
		}
	}
	return all
}

// Unique requires that every address has one running pod, and that each running pod of
// the namespaces is recorded with its own name.
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
		all = errors.Join(all, Expect(owner.Secondary["namespace"] == ns && owner.Secondary["pod"] == pod, "%s allocated to %s, got %v", ip, name, owner))
	}
	return all
}
