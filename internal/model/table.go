// Package model holds what was read of a cluster: rows by table, the coverage of each table,
// and indices over the rows. It has no types of other systems, reads nothing, and has no clock.
package model

import (
	"errors"
	"fmt"
)

// A Table identifies rows of one kind, or a group of their columns that is read separately
// and can be missing while the rest was read.
type Table uint8

// The tables.
const (
	// Kubernetes.
	Pods      Table = iota // identity, labels and annotations
	PodPhase               // phase and hostNetwork
	PodNode                // the node that a pod is bound to
	PodStatus              // addresses and readiness
	Nodes
	Services
	VMs
	Events

	// The Calico datastore.
	Cluster
	Collector // the configuration of the IPAM garbage collector
	Components
	Pools
	Reservations
	Blocks
	Handles
	HandleCounts // the content of a handle, beside its name
	Affinities
	Endpoints
	Hosts // Calico Nodes, if they are objects of their own (etcd mode)

	// Node state: kernel, runtime and CNI state of a node.
	Links
	Routes
	Rules
	Paths
	Neighbours
	Attachments
	Sysctls
	Firewall // the chains of forwarded packets
	Sandboxes
	Containers
	CNIConfigs
	CNIResults
	Processes
	Mounts
	Runtimes
	FailedDels
	Proxies   // kube-proxy
	HostLocal // addresses of the IPAM plugin host-local
	Guards    // the guard daemon's report
	Machines

	// Derived by Seal; never read from a source.
	Allocations
	Addresses

	tables
)

var tableNames = [tables]string{
	Pods: "pods", PodPhase: "pods.phase", PodNode: "pods.node", PodStatus: "pods.status",
	Nodes: "nodes", Services: "services", VMs: "vms", Events: "events",
	Cluster: "cluster", Collector: "collector", Components: "components", Pools: "pools", Reservations: "reservations",
	Blocks: "blocks", Handles: "handles", HandleCounts: "handles.counts", Affinities: "affinities", Endpoints: "endpoints", Hosts: "hosts",
	Links: "links", Routes: "routes", Rules: "rules", Paths: "paths", Neighbours: "neighbours", Attachments: "attachments", Sysctls: "sysctls", Firewall: "firewall",
	Sandboxes: "sandboxes", Containers: "containers", CNIConfigs: "cniconfigs", CNIResults: "cniresults",
	Processes: "processes", Mounts: "mounts", Runtimes: "runtimes", FailedDels: "faileddels", Proxies: "proxies", HostLocal: "hostlocal", Guards: "guards", Machines: "machines",
	Allocations: "allocations", Addresses: "addresses",
}

func (t Table) String() string {
	if t < tables {
		return tableNames[t]
	}
	return fmt.Sprintf("table%d", uint8(t))
}

// ErrUnknownTable means that a name is of no table of this version.
var ErrUnknownTable = errors.New("unknown table")

// MarshalText returns the table's name.
func (t Table) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText finds a table by its name.
func (t *Table) UnmarshalText(b []byte) error {
	for i, n := range tableNames {
		if n == string(b) {
			*t = Table(i)
			return nil
		}
	}
	return fmt.Errorf("%w %q", ErrUnknownTable, b)
}

// Base is the table that a group of columns belongs to.
func (t Table) Base() Table {
	switch t {
	case PodPhase, PodNode, PodStatus:
		return Pods
	case HandleCounts:
		return Handles
	default:
		return t
	}
}

// OfNode reports whether the table is a node table (node state).
func (t Table) OfNode() bool { return t >= Links && t <= Machines }

// Supplements reports whether the table only adds to others: FailedDels to Events, Firewall to the
// other tables of forwarding; Proxies, HostLocal and Guards are beside Calico. Where it cannot be read,
// that is reported, and the check is complete all the same.
func (t Table) Supplements() bool {
	return t == FailedDels || t == Firewall || t == Proxies || t == HostLocal || t == Guards
}

// FactTables lists the node tables, in order.
func FactTables() []Table {
	var out []Table
	for t := Links; t <= Machines; t++ {
		out = append(out, t)
	}
	return out
}

// Tables lists every table that is read from a source, in order.
func Tables() []Table {
	var out []Table
	for t := Pods; t < Allocations; t++ {
		out = append(out, t)
	}
	return out
}
