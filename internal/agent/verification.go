package agent

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/model"
)

// MaxAsked is how many addresses, and how many containers, one request may have.
const MaxAsked = 64

// Verification requests a live verification from one node: of addresses (ip) and containers
// (container), or of everything on the node (all).
func (f *Fleet) Verification(ctx context.Context, node string, query url.Values) (model.Verification, error) {
	var s SignedVerification
	nonce := newNonce()
	with := maps.Clone(query)
	with.Set("nonce", nonce)
	err := f.json(ctx, node, PathVerify, with, &s)
	if err != nil {
		return model.Verification{}, fmt.Errorf("live verification by the agent on %s: %w", node, err)
	}
	w, err := f.opened(ctx, node, nonce, &s)
	switch {
	case err != nil:
		return model.Verification{}, fmt.Errorf("live verification by the agent on %s: %w", node, err)
	case w.Node != node:
		return model.Verification{}, fmt.Errorf("live verification by the agent on %s: the agent on %s answered", node, w.Node)
	case !answers(&w, query):
		return model.Verification{}, fmt.Errorf("live verification by the agent on %s: the answer does not match the request", node)
	}
	return w, nil
}

// answers reports whether a verification covers exactly what was requested.
func answers(w *model.Verification, query url.Values) bool {
	ips := make([]string, 0, len(query["ip"]))
	for _, text := range query["ip"] {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			return false
		}
		ips = append(ips, ip.Unmap().String())
	}
	all, _ := strconv.ParseBool(query.Get("all"))
	return slices.Equal(w.IPs, ips) && slices.Equal(w.Containers, query["container"]) && w.All == all
}

// Ask has a node verify addresses and containers; with neither, everything on the node.
// Long lists are split into several requests and joined.
func (f *Fleet) Ask(ctx context.Context, node string, ips []netip.Addr, containers []string) (model.Verification, error) {
	if len(ips)+len(containers) == 0 {
		return f.Verification(ctx, node, url.Values{"all": {"1"}})
	}
	var out model.Verification
	for at := 0; at < max(len(ips), len(containers)); at += MaxAsked {
		q := url.Values{}
		for _, ip := range part(ips, at) {
			q.Add("ip", ip.Unmap().String())
		}
		q["container"] = part(containers, at)
		w, err := f.Verification(ctx, node, q)
		if err != nil {
			return model.Verification{}, err
		}
		if at == 0 {
			out = w
			continue
		}
		join(&out, &w)
	}
	return out, nil
}

func part[T any](all []T, at int) []T { return all[min(at, len(all)):min(at+MaxAsked, len(all))] }

// join adds a second answer. The result is as old as the older and as complete as the less
// complete one; if the node changed in between it is incomplete.
func join(w, more *model.Verification) {
	was, is := w, more
	if was.BootID != is.BootID || was.NodeName != is.NodeName || was.CalicoName != is.CalicoName ||
		was.ConfigName != is.ConfigName || was.Network != is.Network {
		w.Missing = append(w.Missing, "the node changed between two requests")
		w.Complete = false
	}
	w.Taken, w.Uptime = min(w.Taken, more.Taken), min(w.Uptime, more.Uptime)
	w.Complete = w.Complete && more.Complete
	w.IPs, w.Containers = append(w.IPs, more.IPs...), append(w.Containers, more.Containers...)
	w.Missing = joined(w.Missing, more.Missing, func(s *string) string { return *s })
	w.Sandboxes = joined(w.Sandboxes, more.Sandboxes, func(s *model.Sandbox) string { return s.ID })
	w.Attachments = joined(w.Attachments, more.Attachments, func(a *model.Attachment) string {
		return fmt.Sprintf("%d %d %s", a.Inode, a.Index, a.IPs)
	})
	w.Calls = joined(w.Calls, more.Calls, func(p *model.Process) string { return fmt.Sprintf("%d %s", p.PID, p.CNI) })
	w.Results = joined(w.Results, more.Results, func(r *model.CNIResult) string {
		return fmt.Sprintf("%s %s %s %s", r.Network, r.Container, r.Interface, r.IPs)
	})
	w.Links = joined(w.Links, more.Links, func(l *model.Link) string { return strconv.Itoa(l.Index) + " " + l.Name })
}

// joined returns the union, each element once.
func joined[T any](a, b []T, key func(*T) string) []T {
	seen := make(map[string]bool, len(a))
	for i := range a {
		seen[key(&a[i])] = true
	}
	for i := range b {
		if !seen[key(&b[i])] {
			a = append(a, b[i])
		}
	}
	return a
}
