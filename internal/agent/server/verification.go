package server

import (
	"context"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// verifiedTables are the tables that a verification is built from.
var verifiedTables = []model.Table{model.Sandboxes, model.Attachments, model.CNIResults, model.CNIConfigs, model.Machines, model.Links}

// A question is what to verify: addresses and containers, or everything.
type question struct {
	ips        []netip.Addr
	containers []string
	all        bool
}

// collectVerification reads the node now, not from the cache, and returns what concerns the
// question. Invariant: Complete is set only if every table of verifiedTables and both reads
// of the running CNI calls succeeded, the namespace of every sandbox was read, and the boot
// ID is known. A caller must not conclude from an incomplete verification that something
// does not exist.
func (s *Server) collectVerification(ctx context.Context, q question) model.Verification {
	w := model.Verification{Node: s.node, Containers: q.containers, All: q.all}
	for _, ip := range q.ips {
		w.IPs = append(w.IPs, ip.String())
	}
	// Calls are read before and after the tables: a call that changes them is seen by at
	// least one read.
	before, err1 := s.calls(ctx)
	f, seen := s.reader.Read(ctx, verifiedTables...)
	after, err2 := s.calls(ctx)
	w.Taken = model.At(s.now())
	for _, err := range []error{err1, err2} {
		if err != nil {
			w.Missing = append(w.Missing, "calls: "+err.Error())
		}
	}
	w.Missing = append(w.Missing, unverified(seen)...)
	w.Calls = union(before, after)
	verificationOf(&w, f, q)
	w.Complete = len(w.Missing) == 0 && w.BootID != ""
	return w
}

// unverified returns which of the tables were not read completely, and why. A table
// without a collector counts as not read.
func unverified(seen []model.Coverage) []string {
	var out []string
	for _, t := range verifiedTables {
		i := slices.IndexFunc(seen, func(c model.Coverage) bool { return c.Table == t })
		switch {
		case i < 0:
			out = append(out, t.String()+": no collector reads it")
		case !seen[i].State.Seen():
			out = append(out, t.String()+": "+seen[i].Reason)
		}
	}
	return out
}

// verificationOf copies from the node's state what concerns the question.
func verificationOf(w *model.Verification, f *model.NodeState, q question) {
	model.Join(f.Attachments, f.Sandboxes)
	for _, m := range f.Machines {
		w.BootID, w.Uptime, w.NodeName, w.CalicoName = m.BootID, m.Uptime, m.NodeName, m.CalicoName
	}
	for _, c := range f.CNIConfigs {
		if c.Loaded {
			w.ConfigName, w.Network = c.NodeName, c.Network
		}
	}
	verifySandboxes(w, f, q, verifyAddresses(w, f, q))
	for _, l := range f.Links {
		if q.has(l.IPs) {
			w.Links = append(w.Links, l)
		}
	}
}

// verifyAddresses copies interfaces and cached results, and returns the IDs of their
// sandboxes.
func verifyAddresses(w *model.Verification, f *model.NodeState, q question) map[string]bool {
	with := map[string]bool{}
	for _, a := range f.Attachments {
		if q.of(a.Sandbox) || q.has(a.IPs) {
			w.Attachments = append(w.Attachments, q.short(a))
			with[a.Sandbox] = true
		}
	}
	// Some runtimes move the address from the interface to what runs inside the sandbox:
	// libcni's cached result still says whose it is.
	for _, r := range f.CNIResults {
		if q.of(r.Container) || q.has(r.IPs) {
			with[r.Container] = true
			if q.all {
				r = model.CNIResult{Container: r.Container, IPs: r.IPs}
			}
			w.Results = append(w.Results, r)
		}
	}
	return with
}

// verifySandboxes copies sandboxes. One whose network namespace was not read, whether asked
// about or not, makes the verification incomplete: it may have any address.
func verifySandboxes(w *model.Verification, f *model.NodeState, q question, with map[string]bool) {
	visited := map[uint64]bool{}
	for _, a := range f.Attachments {
		visited[a.Inode] = true
	}
	for _, s := range f.Sandboxes {
		if q.of(s.ID) || with[s.ID] {
			w.Sandboxes = append(w.Sandboxes, s)
		}
		if !s.HostNetwork && (s.Inode != 0 && !visited[s.Inode] || s.Inode == 0 && s.Ready) {
			w.Missing = append(w.Missing, "attachments: the network namespace was not read for sandbox "+s.ID)
		}
	}
}

// of reports whether a container is asked about.
func (q *question) of(id string) bool {
	return q.all || id != "" && slices.Contains(q.containers, id)
}

// has reports whether one of the addresses is asked about; with all, every address is.
func (q *question) has(ips []netip.Prefix) bool {
	return slices.ContainsFunc(ips, func(p netip.Prefix) bool { return q.all || slices.Contains(q.ips, p.Addr()) })
}

// short drops tables that a pod can fill and that are not needed if everything is asked
// about.
func (q *question) short(a model.Attachment) model.Attachment {
	if q.all {
		a.Routes, a.Neighbours = nil, nil
	}
	return a
}

func union(a, b []model.Process) []model.Process {
	out := slices.Clone(a)
	for _, p := range b {
		if !slices.ContainsFunc(a, func(q model.Process) bool { return q.PID == p.PID && q.CNI == p.CNI }) {
			out = append(out, p)
		}
	}
	return out
}
