package snapshotio

import (
	"plumbline.dev/plumbline/internal/model"
)

// A section is one table as lines.
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
	rows(model.Collector, func(s *model.Snapshot) *[]model.CollectorConfig { return &s.Collector }),
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

// A factSection is one table of one node.
type factSection struct {
	table  model.Table
	encode func(f *model.Facts, emit func([]byte) error) error
	decode func(f *model.Facts, line []byte) error
}

func facts[T any](t model.Table, of func(*model.Facts) *[]T) factSection {
	return factSection{
		table:  t,
		encode: func(f *model.Facts, emit func([]byte) error) error { return encodeAll(*of(f), emit) },
		decode: func(f *model.Facts, line []byte) error { return decodeInto(of(f), line) },
	}
}

var factSections = []factSection{
	facts(model.Links, func(f *model.Facts) *[]model.Link { return &f.Links }),
	facts(model.Routes, func(f *model.Facts) *[]model.Route { return &f.Routes }),
	facts(model.Rules, func(f *model.Facts) *[]model.Rule { return &f.Rules }),
	facts(model.Paths, func(f *model.Facts) *[]model.Path { return &f.Paths }),
	facts(model.Neighbours, func(f *model.Facts) *[]model.Neighbour { return &f.Neighbours }),
	facts(model.Attachments, func(f *model.Facts) *[]model.Attachment { return &f.Attachments }),
	facts(model.Sysctls, func(f *model.Facts) *[]model.Sysctl { return &f.Sysctls }),
	facts(model.Sandboxes, func(f *model.Facts) *[]model.Sandbox { return &f.Sandboxes }),
	facts(model.Containers, func(f *model.Facts) *[]model.Container { return &f.Containers }),
	facts(model.CNIConfigs, func(f *model.Facts) *[]model.CNIConfig { return &f.CNIConfigs }),
	facts(model.CNIResults, func(f *model.Facts) *[]model.CNIResult { return &f.CNIResults }),
	facts(model.Processes, func(f *model.Facts) *[]model.Process { return &f.Processes }),
	facts(model.Mounts, func(f *model.Facts) *[]model.Mount { return &f.Mounts }),
	facts(model.Runtimes, func(f *model.Facts) *[]model.Runtime { return &f.Runtimes }),
	facts(model.Machines, func(f *model.Facts) *[]model.Machine { return &f.Machines }),
}
