package execute

import (
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// users is an index of full verifications: which nodes have what. Nodes that NotInUse.Against
// could refuse for another reason are always among them.
type users struct {
	nodes      []string
	doubtful   []string // without a complete answer, or with a CNI call in progress
	containers map[string][]string
	addresses  map[netip.Addr][]string
}

// usersOf indexes what the nodes said; nil of a node without an answer.
func usersOf(nodes []string, said func(node string) *model.Verification) *users {
	u := &users{nodes: nodes, containers: map[string][]string{}, addresses: map[netip.Addr][]string{}}
	for _, n := range nodes {
		w := said(n)
		if w == nil || !w.Complete || w.Node != n || len(w.Calls) > 0 {
			u.doubtful = append(u.doubtful, n)
		}
		if w == nil {
			continue
		}
		for i := range w.Attachments {
			u.has(n, w.Attachments[i].Sandbox, w.Attachments[i].IPs)
		}
		for i := range w.Sandboxes {
			u.has(n, w.Sandboxes[i].ID, nil)
		}
		for i := range w.Results {
			u.has(n, w.Results[i].Container, w.Results[i].IPs)
		}
		for i := range w.Links {
			u.has(n, "", w.Links[i].IPs)
		}
	}
	return u
}

func (u *users) has(node, container string, ips []netip.Prefix) {
	if container != "" {
		u.containers[container] = once(u.containers[container], node)
	}
	for _, p := range ips {
		u.addresses[p.Addr()] = once(u.addresses[p.Addr()], node)
	}
}

// once appends a node unless it is the last: nodes are added one after the other.
func once(nodes []string, node string) []string {
	if n := len(nodes); n > 0 && nodes[n-1] == node {
		return nodes
	}
	return append(nodes, node)
}

// of returns the doubtful nodes and those that have one of the containers or addresses.
func (u *users) of(containers []string, ips []netip.Addr) []string {
	out := slices.Clone(u.doubtful)
	for _, c := range containers {
		out = append(out, u.containers[c]...)
	}
	for _, ip := range ips {
		out = append(out, u.addresses[ip]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
