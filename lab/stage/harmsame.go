package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"plumbline.dev/plumbline/lab"
)

// same compares the state of now with that of the start: every pod that was healthy then
// must still exist, with the same state in all sources.
func (h *Harm) same(ctx context.Context) error {
	pods, err := h.bystanders(ctx)
	if err != nil {
		return err
	}
	now, err := h.project(ctx, pods)
	if err != nil {
		return err
	}
	return compare(h.before, now)
}

// compare requires every pod of before in now, unchanged.
func compare(before, now map[string]string) error {
	var all error
	for _, pod := range slices.Sorted(maps.Keys(before)) {
		all = errors.Join(all, Expect(now[pod] == before[pod], "%s unchanged;\nbefore %s\nnow    %s", pod, before[pod], now[pod]))
	}
	return all
}

// project collects, for every pod, all state that a repair could change: address,
// containers, interface, route, annotations or endpoint, allocation with its sequence
// number.
func (h *Harm) project(ctx context.Context, pods []bystander) (map[string]string, error) {
	nodes, err := h.kernels(ctx)
	if err != nil {
		return nil, err
	}
	allocations, err := h.allocations(ctx)
	if err != nil {
		return nil, err
	}
	weps, err := h.weps(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range pods {
		if p.Spec.HostNetwork {
			continue
		}
		k := nodes[p.Spec.NodeName]
		line := fmt.Sprintf("uid %s, address %s", p.Metadata.UID, p.Status.PodIP)
		for _, c := range p.Status.ContainerStatuses {
			line += fmt.Sprintf(", container %s started %d times", c.ContainerID, c.RestartCount+1)
		}
		line += fmt.Sprintf(", interface %s #%d, route %s", p.device(), k.index[p.device()], k.route[p.Status.PodIP])
		for _, a := range slices.Sorted(maps.Keys(p.Metadata.Annotations)) {
			if strings.HasPrefix(a, "cni.projectcalico.org/") {
				line += fmt.Sprintf(", %s=%s", a, p.Metadata.Annotations[a])
			}
		}
		out[p.name()] = line + ", endpoint " + weps[etcdWEPs+p.endpoint()] + ", allocation " + allocations[p.Status.PodIP]
	}
	return out, nil
}

// A kernel is the state of a node's pods in its kernel.
type kernel struct {
	index map[string]int    // by interface
	route map[string]string // interface by address
}

func (h *Harm) kernels(ctx context.Context) (map[string]kernel, error) {
	nodes, err := h.s.RunningNodes(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]kernel{}
	for _, n := range nodes {
		var links []struct {
			Ifname  string
			Ifindex int
		}
		var routes []struct{ Dst, Dev string }
		for what, into := range map[string]any{"link": &links, "route": &routes} {
			text, err := n.Exec(ctx, "ip", "-j", what)
			if err != nil {
				return nil, err
			}
			if err := json.Unmarshal([]byte(text), into); err != nil {
				return nil, fmt.Errorf("read %ss of %s: %w", what, n.Name, err)
			}
		}
		k := kernel{map[string]int{}, map[string]string{}}
		for _, l := range links {
			k.index[l.Ifname] = l.Ifindex
		}
		for _, r := range routes {
			k.route[r.Dst] = r.Dev
		}
		out[n.Name] = k
	}
	return out, nil
}

// allocations collects the owner of each address, and the sequence number of that
// allocation.
func (h *Harm) allocations(ctx context.Context) (map[string]string, error) {
	type numbered struct {
		Block
		Numbers map[string]json.Number `json:"sequenceNumberForAllocation"`
	}
	blocks, err := readAll(ctx, h.s, "ipamblocks", etcdBlocks, func(b *numbered, key string) { b.Key = key })
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, b := range blocks {
		p, err := netip.ParsePrefix(b.CIDR)
		if err != nil {
			return nil, err
		}
		ip := p.Addr()
		for i := range b.Allocations {
			if a, ok := b.Owner(ip.String()); ok {
				out[ip.String()] = fmt.Sprintf("#%d of %s by %s %v, number %s", i, b.CIDR, a.Handle, a.Secondary, b.Numbers[fmt.Sprint(i)])
			}
			ip = ip.Next()
		}
	}
	return out, nil
}

// weps reads every endpoint's value, by key; without an etcd there are none.
func (h *Harm) weps(ctx context.Context) (map[string]string, error) {
	if h.s.Datastore == lab.KDD {
		return nil, nil
	}
	text, err := h.s.Etcdctl(ctx, "read-only", "get", "--prefix", etcdWEPs)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	out := map[string]string{}
	for i := 0; i+1 < len(lines); i += 2 {
		out[lines[i]] = lines[i+1]
	}
	return out, err
}
