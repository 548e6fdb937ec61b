// Package model holds what was seen of a cluster: rows by table, how completely
// each table was seen, and indices over them. It knows no other system's types,
// reads nothing, and has no clock.
package model

import "fmt"

// A Table names rows of one kind, or a group of their columns that is read on its
// own and can be missing while the rest is there.
type Table uint8

// The tables. Those of a group say where the columns come from.
const (
	// Intent: what Kubernetes wants.
	Pods      Table = iota // identity, labels and annotations
	PodPhase               // phase and hostNetwork
	PodNode                // the node that a pod was bound to
	PodStatus              // addresses and readiness
	Nodes
	Services
	VMs
	Events

	// Ledger: what Calico recorded.
	Cluster
	Collector // the configuration of Calico's garbage collector
	Components
	Pools
	Reservations
	Blocks
	Handles
	HandleCounts // what is inside a handle, beyond its name
	Affinities
	Endpoints
	Hosts // Calico's own nodes, where it keeps them apart from Kubernetes'

	// Fact: what a node's kernel and runtime say.
	Links
	Routes
	Rules
	Paths
	Neighbours
	Attachments
	Sysctls
	Sandboxes
	Containers
	CNIConfigs
	CNIResults
	Processes
	Mounts
	Runtimes
	Machines

	// Derived when a snapshot is sealed; never read from anywhere.
	Allocations
	Addresses

	tables
)

var tableNames = [tables]string{
	Pods: "pods", PodPhase: "pods.phase", PodNode: "pods.node", PodStatus: "pods.status",
	Nodes: "nodes", Services: "services", VMs: "vms", Events: "events",
	Cluster: "cluster", Collector: "collector", Components: "components", Pools: "pools", Reservations: "reservations",
	Blocks: "blocks", Handles: "handles", HandleCounts: "handles.counts", Affinities: "affinities", Endpoints: "endpoints", Hosts: "hosts",
	Links: "links", Routes: "routes", Rules: "rules", Paths: "paths", Neighbours: "neighbours", Attachments: "attachments", Sysctls: "sysctls",
	Sandboxes: "sandboxes", Containers: "containers", CNIConfigs: "cniconfigs", CNIResults: "cniresults",
	Processes: "processes", Mounts: "mounts", Runtimes: "runtimes", Machines: "machines",
	Allocations: "allocations", Addresses: "addresses",
}

func (t Table) String() string {
	if t < tables {
		return tableNames[t]
	}
	return fmt.Sprintf("table%d", uint8(t))
}

// MarshalText gives the table's name.
func (t Table) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText finds a table by its name.
func (t *Table) UnmarshalText(b []byte) error {
	for i, n := range tableNames {
		if n == string(b) {
			*t = Table(i)
			return nil
		}
	}
	return fmt.Errorf("no table %q", b)
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

// OfNode tells that the table is a node's own.
func (t Table) OfNode() bool { return t >= Links && t <= Machines }

// FactTables lists the tables of a node, in order.
func FactTables() []Table {
	var out []Table
	for t := Links; t <= Machines; t++ {
		out = append(out, t)
	}
	return out
}

// Tables lists every table that is read from somewhere, in order.
func Tables() []Table {
	var out []Table
	for t := Pods; t < Allocations; t++ {
		out = append(out, t)
	}
	return out
}
