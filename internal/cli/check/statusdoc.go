package check

import (
	"net/netip"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
)

// A statusReport is what status -o json prints.
type statusReport struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Cluster    cluster.Summary `json:"cluster"`
	Taken      model.Time      `json:"taken"`
	// What was not read is not there.
	Ready           *bool         `json:"ready,omitempty"`           // false: Calico's datastore is locked, and no pod can start or stop
	LeakGracePeriod *int64        `json:"leakGracePeriod,omitempty"` // of the IPAM garbage collector, in seconds; 0: it is off
	Pods            *int          `json:"pods,omitempty"`            // that were read
	Nodes           *int          `json:"nodes,omitempty"`           // that were read
	Blocks          *int          `json:"blocks,omitempty"`          // of IPAM
	Handles         *int          `json:"handles,omitempty"`         // of IPAM
	Endpoints       *int          `json:"endpoints,omitempty"`       // also not of clusters where they are part of the pods
	Agents          *agentsStatus `json:"agents,omitempty"`          // also not if none is installed
	Guard           string        `json:"guard,omitempty"`           // one line about the guards of all nodes
	Pools           []poolStatus  `json:"pools,omitempty"`
	Encrypted       int           `json:"encrypted"`  // nodes that have an address for WireGuard
	NotChecked      []string      `json:"notChecked"` // what could not be read, and why
}

// An agentsStatus says how many agents answer.
type agentsStatus struct {
	Answer int `json:"answer"` // agents that did
	Nodes  int `json:"nodes"`  // whose agents were asked
}

// A poolStatus is a pool and how much of it is in use.
type poolStatus struct {
	Name          string       `json:"name"`                    // of the pool
	CIDR          netip.Prefix `json:"cidr"`                    // of the pool
	Encapsulation string       `json:"encapsulation,omitempty"` // VXLAN or IPIP; empty: none
	Disabled      bool         `json:"disabled,omitempty"`      // no new addresses are assigned
	Size          int          `json:"size"`                    // addresses; at most 1073741824 are counted
	Held          *int         `json:"held,omitempty"`          // addresses that are allocated
	Blocks        *int         `json:"blocks,omitempty"`        // that nodes have of it
	PerDay        *float64     `json:"perDay,omitempty"`        // addresses that are allocated more each day, as the controller saw it
	SeenSeconds   *float64     `json:"seenSeconds,omitempty"`   // for how long that was seen
	EmptySeconds  *float64     `json:"emptySeconds,omitempty"`  // until none is free if it grows on like that
	LaterSeconds  *float64     `json:"laterSeconds,omitempty"`  // how much later that would be if what is leaked were free
}

func statusOf(r *audit.Report, guard string, grow growth) statusReport {
	s, info := r.View.Snapshot(), r.View.Info()
	doc := statusReport{
		APIVersion: cluster.APIVersion, Kind: "StatusReport", Cluster: cluster.ReportOf(r).Cluster, Taken: r.Taken, Guard: guard, Encrypted: encrypted(s), NotChecked: []string{},
		Pods: ifRead(r, model.Pods, len(s.Pods)), Nodes: ifRead(r, model.Nodes, len(s.Nodes)), Blocks: ifRead(r, model.Blocks, len(s.Blocks)),
		Handles: ifRead(r, model.Handles, len(s.Handles)), Endpoints: ifRead(r, model.Endpoints, len(s.Endpoints)), Ready: ifRead(r, model.Cluster, info.Ready),
	}
	if c, ok := r.View.Collector(); ok {
		doc.LeakGracePeriod = &c.LeakGracePeriod
	}
	if r.View.Agents() {
		n, of := answering(r)
		doc.Agents = &agentsStatus{n, of}
	}
	for i := range s.Pools {
		p, u := &s.Pools[i], r.View.PoolUse(int32(i))
		one := poolStatus{Name: p.Name, CIDR: p.CIDR, Encapsulation: p.Tunnel, Disabled: p.Disabled, Size: model.Size(p.CIDR, 1<<30), Held: ifRead(r, model.Blocks, u.Held), Blocks: ifRead(r, model.Blocks, u.Blocks)}
		if f, ok := grow.pools[p.Name]; ok {
			one.PerDay, one.EmptySeconds, one.LaterSeconds = &f.PerDay, &f.EmptySeconds, &f.LaterSeconds
			if f.SeenSeconds > 0 {
				one.SeenSeconds = &f.SeenSeconds
			}
		}
		doc.Pools = append(doc.Pools, one)
	}
	for _, c := range r.Gaps {
		if c.Node == "" {
			doc.NotChecked = append(doc.NotChecked, c.Table.String()+": "+c.Reason)
		}
	}
	if grow.unread != "" {
		doc.NotChecked = append(doc.NotChecked, "growth of pools: "+grow.unread)
	}
	for _, l := range r.NodesNotChecked() {
		doc.NotChecked = append(doc.NotChecked, strings.TrimPrefix(l, "Not checked: "))
	}
	return doc
}

// ifRead is a value of a table that was read completely.
func ifRead[T any](r *audit.Report, t model.Table, v T) *T {
	if !r.View.State(t, "").Seen() {
		return nil
	}
	return &v
}
