package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// People paste what kubectl, calicoctl, ip and arp list. One listing is of one moment: rows on
// consecutive lines of one file. What two listings show may have changed in between.

// A row is one line of a listing.
type row struct {
	pod, node, device, object string
	state                     string // the event's note
	address                   netip.Addr
	source                    string
	kind                      Kind
	place                     Place
}

// JudgeListings finds what listings show: an address that several pods have at one moment,
// pods whose gateway does not answer, and handles that are named after pods.
func JudgeListings(l *Log) []Verdict {
	l.mu.Lock()
	rows := l.rows()
	l.mu.Unlock()
	return slices.Concat(duplicates(rows), noGateway(rows), legacyHandles(rows))
}

// rows gives the rows of listings, in order of file and line. l.mu must be held.
func (l *Log) rows() []row {
	x := l.indexed()
	var out []row
	for n := l.events.first; n < l.events.end; n++ {
		p := l.events.at(n)
		if p.at != noTime {
			continue
		}
		source := l.sources[p.source]
		if !slices.Contains([]string{"kubectl", "calicoctl", "ip", "ipam record"}, source) {
			continue
		}
		words := l.name(x.subjects[p.subject])
		e := l.unpack(p, &words)
		out = append(out, row{e.Pod, e.Node, e.Device, e.Object, e.Note, e.Address, source, e.Kind, e.Place})
	}
	slices.SortStableFunc(out, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.place.File, b.place.File), cmp.Compare(a.place.Line, b.place.Line))
	})
	return out
}

// A shared is what listings show of one address. Rows of two listings are never mixed: each may be
// of another moment, and of another cluster.
type shared struct {
	address         netip.Addr
	running         []row // by kubectl: the pods that use it in the one listing that shows most of them, at least two
	endpoints       []row // by calicoctl, likewise
	routes, entries []row // on nodes
	endpoint        bool  // an endpoint has it: it is of the pod network
}

// duplicates finds addresses that several pods have in one listing.
func duplicates(rows []row) []Verdict {
	by := map[netip.Addr]*shared{}
	of := func(a netip.Addr) *shared {
		if by[a] == nil {
			by[a] = &shared{address: a}
		}
		return by[a]
	}
	for i := range rows {
		switch r := &rows[i]; r.kind {
		case RouteSeen:
			of(r.address).routes = append(of(r.address).routes, *r)
		case NeighbourSeen:
			of(r.address).entries = append(of(r.address).entries, *r)
		default:
		}
	}
	for listing := range listings(rows) {
		at := map[netip.Addr][]row{}
		for _, r := range listing {
			if r.kind == PodSeen && r.address.IsValid() && (r.source == "calicoctl" || uses(r.state)) {
				at[r.address] = append(at[r.address], r)
			}
		}
		for a, rs := range at {
			of(a).show(rs)
		}
	}
	var out []Verdict
	for _, a := range sortedAddresses(by) {
		if v, ok := by[a].verdict(); ok {
			out = append(out, v)
		}
	}
	return out
}

// show notes what one listing shows of the address.
func (s *shared) show(rows []row) {
	best := &s.running
	if rows[0].source == "calicoctl" {
		best, s.endpoint = &s.endpoints, true
	}
	if pods := podsOf(rows); len(pods) > 1 && len(pods) > len(podsOf(*best)) && !oneVM(pods) {
		*best = rows
	}
}

// oneVM reports whether the pods are launchers of one KubeVirt VM, which has one address while it
// migrates: virt-launcher-VM-xxxxx.
func oneVM(pods []string) bool {
	vm := func(pod string) string {
		i := strings.LastIndexByte(pod, '-')
		if _, name, _ := strings.Cut(pod, "/"); i < 0 || !strings.HasPrefix(name, "virt-launcher-") {
			return ""
		}
		return pod[:i]
	}
	return vm(pods[0]) != "" && !slices.ContainsFunc(pods, func(p string) bool { return vm(p) != vm(pods[0]) })
}

// verdict judges one address. Pods on the network of their host share the address of their node:
// on one node, kubectl's listing alone proves nothing.
func (s *shared) verdict() (Verdict, bool) {
	several := len(s.running) > 0 && (s.endpoint || len(s.routes)+len(s.entries) > 0 || len(nodesOf(s.running)) > 1)
	if !several && len(s.endpoints) == 0 {
		return Verdict{}, false
	}
	rows := s.endpoints
	if several {
		rows = slices.Concat(s.running, s.endpoints)
	}
	pods, nodes := podsOf(rows), nodesOf(rows)
	v := Verdict{Cause: DuplicateAddress, Certainty: Proven, Is: s.address, Pods: pods, Count: len(pods), Says: fmt.Sprintf("%s is the address of %d pods", s.address, len(pods))}
	if len(nodes) == 1 {
		v.Node = nodes[0]
		v.Says += " on " + v.Node
	}
	v.Says += ": " + some(pods)
	v.Says += s.onNode()
	if !several {
		v.Certainty = Likely
		v.NotShown = append(v.NotShown, "whether these pods run: only Calico's endpoints are listed, and one may be left of a pod that is gone")
	}
	v.NotShown = append(v.NotShown, "which of them Calico IPAM assigned it to: no line shows the allocation")
	for _, r := range slices.Concat(rows, s.routes, s.entries) {
		v.Lines = append(v.Lines, r.place)
	}
	v.Lines = tidy(v.Lines)
	return v, true
}

// onNode says where the node sends packets for the address.
func (s *shared) onNode() (says string) {
	pods := map[string]string{} // by device
	for _, e := range s.endpoints {
		pods[e.device] = e.pod
	}
	to := distinct(s.routes, func(r row) string {
		if pod := pods[r.device]; pod != "" {
			return r.device + " of " + pod
		}
		return r.device
	})
	if len(to) > 0 {
		says += "; the node's route leads to " + some(to)
	}
	if n := len(distinct(s.entries, func(r row) string { return r.device })); n > 1 {
		says += fmt.Sprintf("; %d interfaces have a neighbour entry for it", n)
	}
	return says
}

// listings splits rows into listings. A pod that comes again is of a later moment (kubectl get -w).
func listings(rows []row) func(yield func([]row) bool) {
	return func(yield func([]row) bool) {
		for from := 0; from < len(rows); {
			to, seen := from+1, map[string]bool{key(&rows[from]): true}
			for to < len(rows) && rows[to].source == rows[from].source && rows[to].place.File == rows[from].place.File && rows[to].place.Line == rows[to-1].place.Line+1 && !seen[key(&rows[to])] {
				seen[key(&rows[to])] = true
				to++
			}
			if !yield(rows[from:to]) {
				return
			}
			from = to
		}
	}
}

// key identifies what a row of a listing is about. calicoctl lists a pod once for each node.
func key(r *row) string {
	if r.source == "calicoctl" {
		return r.pod + " " + r.node
	}
	return r.pod
}

// uses reports whether a pod in this state, as kubectl shows it, has a network of its own: one
// that has ended, or is ending, may still show the address that another pod has now.
func uses(state string) bool {
	state = strings.TrimPrefix(state, "Init:")
	if ready, all, ok := strings.Cut(state, "/"); ok {
		return ready != "" && all != ""
	}
	return slices.Contains([]string{"Running", "PodInitializing", "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "CreateContainerConfigError", "RunContainerError"}, state)
}

func podsOf(rows []row) []string { return distinct(rows, func(r row) string { return r.pod }) }

func nodesOf(rows []row) []string { return distinct(rows, func(r row) string { return r.node }) }

func distinct(rows []row, of func(row) string) []string {
	seen := map[string]bool{}
	for _, r := range rows {
		if s := of(r); s != "" {
			seen[s] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func sortedAddresses[T any](by map[netip.Addr]T) []netip.Addr {
	out := make([]netip.Addr, 0, len(by))
	for a := range by {
		out = append(out, a)
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return out
}

// some names a few pods of many.
func some(pods []string) string {
	const few = 3
	if len(pods) <= few+1 {
		return and(pods)
	}
	return strings.Join(pods[:few], ", ") + fmt.Sprintf(" and %d others", len(pods)-few)
}
