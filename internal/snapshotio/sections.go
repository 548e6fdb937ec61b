package snapshotio

import (
	"plumbline.dev/plumbline/internal/model"
)

// A section is one table as JSON lines.
type section struct {
	file   string
	table  model.Table
	encode func(s *model.Snapshot, emit func([]byte) error) error
	decode func(s *model.Snapshot, line []byte) error
}

func rows[T any](t model.Table, of func(*model.Snapshot) *[]T) section {
	return section{
		file: t.String() + ".jsonl", table: t,
		encode: func(s *model.Snapshot, emit func([]byte) error) error { return encodeAll(*of(s), emit) },
		decode: func(s *model.Snapshot, line []byte) error { return decodeInto(of(s), line) },
	}
}

func encodeAll[T any](rows []T, emit func([]byte) error) error {
	for i := range rows {
		b, err := encodeRow(&rows[i])
		if err != nil {
			return err
		}
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

func decodeInto[T any](rows *[]T, line []byte) error {
	var row T
	if err := decodeRow(line, &row); err != nil {
		return err
	}
	*rows = append(*rows, row)
	return nil
}

// The tables of the whole cluster, in the order in which they are written.
var sections = []section{
	rows(model.Cluster, func(s *model.Snapshot) *[]model.Info { return &s.Info }),
	rows(model.Collector, func(s *model.Snapshot) *[]model.GarbageCollectorConfig { return &s.Collector }),
	rows(model.Components, func(s *model.Snapshot) *[]model.Component { return &s.Components }),
	rows(model.Nodes, func(s *model.Snapshot) *[]model.Node { return &s.Nodes }),
	rows(model.Pools, func(s *model.Snapshot) *[]model.Pool { return &s.Pools }),
	rows(model.Reservations, func(s *model.Snapshot) *[]model.Reservation { return &s.Reservations }),
	rows(model.Blocks, func(s *model.Snapshot) *[]model.Block { return &s.Blocks }),
	rows(model.Handles, func(s *model.Snapshot) *[]model.Handle { return &s.Handles }),
	rows(model.Affinities, func(s *model.Snapshot) *[]model.Affinity { return &s.Affinities }),
	rows(model.Endpoints, func(s *model.Snapshot) *[]model.Endpoint { return &s.Endpoints }),
	rows(model.Hosts, func(s *model.Snapshot) *[]model.Host { return &s.Hosts }),
	rows(model.Pods, func(s *model.Snapshot) *[]model.Pod { return &s.Pods }),
	rows(model.Services, func(s *model.Snapshot) *[]model.Service { return &s.Services }),
	rows(model.VMs, func(s *model.Snapshot) *[]model.VM { return &s.VMs }),
	rows(model.Events, func(s *model.Snapshot) *[]model.Event { return &s.Events }),
}

// A nodeSection is one table of one node.
type nodeSection struct {
	table  model.Table
	encode func(f *model.NodeState, emit func([]byte) error) error
	decode func(f *model.NodeState, line []byte) error
	patch  func(f, fresh *model.NodeState, p *Patch)
}

func nodeTables[T any](t model.Table, of func(*model.NodeState) *[]T) nodeSection {
	return nodeSection{
		table:  t,
		encode: func(f *model.NodeState, emit func([]byte) error) error { return encodeAll(*of(f), emit) },
		decode: func(f *model.NodeState, line []byte) error { return decodeInto(of(f), line) },
		patch:  func(f, fresh *model.NodeState, p *Patch) { *of(f) = patched(*of(f), *of(fresh), p) },
	}
}

var nodeSections = []nodeSection{
	nodeTables(model.Links, func(f *model.NodeState) *[]model.Link { return &f.Links }),
	nodeTables(model.Routes, func(f *model.NodeState) *[]model.Route { return &f.Routes }),
	nodeTables(model.Rules, func(f *model.NodeState) *[]model.Rule { return &f.Rules }),
	nodeTables(model.Paths, func(f *model.NodeState) *[]model.Path { return &f.Paths }),
	nodeTables(model.Neighbours, func(f *model.NodeState) *[]model.Neighbour { return &f.Neighbours }),
	nodeTables(model.Attachments, func(f *model.NodeState) *[]model.Attachment { return &f.Attachments }),
	nodeTables(model.Sysctls, func(f *model.NodeState) *[]model.Sysctl { return &f.Sysctls }),
	nodeTables(model.Firewall, func(f *model.NodeState) *[]model.Chain { return &f.Firewall }),
	nodeTables(model.Sandboxes, func(f *model.NodeState) *[]model.Sandbox { return &f.Sandboxes }),
	nodeTables(model.Containers, func(f *model.NodeState) *[]model.Container { return &f.Containers }),
	nodeTables(model.CNIConfigs, func(f *model.NodeState) *[]model.CNIConfig { return &f.CNIConfigs }),
	nodeTables(model.CNIResults, func(f *model.NodeState) *[]model.CNIResult { return &f.CNIResults }),
	nodeTables(model.Processes, func(f *model.NodeState) *[]model.Process { return &f.Processes }),
	nodeTables(model.Mounts, func(f *model.NodeState) *[]model.Mount { return &f.Mounts }),
	nodeTables(model.Runtimes, func(f *model.NodeState) *[]model.Runtime { return &f.Runtimes }),
	nodeTables(model.FailedDels, func(f *model.NodeState) *[]model.FailedDel { return &f.FailedDels }),
	nodeTables(model.Proxies, func(f *model.NodeState) *[]model.Proxy { return &f.Proxies }),
	nodeTables(model.HostLocal, func(f *model.NodeState) *[]model.Reserved { return &f.HostLocal }),
	nodeTables(model.Guards, func(f *model.NodeState) *[]model.Guard { return &f.Guards }),
	nodeTables(model.Machines, func(f *model.NodeState) *[]model.Machine { return &f.Machines }),
}
