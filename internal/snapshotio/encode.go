package snapshotio

import (
	"fmt"
	"maps"
	"slices"

	"plumbline.dev/plumbline/internal/model"
)

// The sections that are not tables.
const (
	metaFile     = "meta.json"
	coverageFile = "coverage.jsonl"
)

// encode emits the snapshot's sections line by line. Each section of a table begins with a
// nil line, so that an empty table has a section. Tables that were not read have none.
func encode(s *model.Snapshot, emit func(file string, line []byte) error) error {
	meta, err := encodeRow(&s.Meta)
	if err != nil {
		return err
	}
	if err := emit(metaFile, meta); err != nil {
		return err
	}
	if err := encodeAll(s.Coverage, func(b []byte) error { return emit(coverageFile, b) }); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range s.Coverage {
		if c.State == model.Complete || c.State == model.Partial {
			seen[c.Node+"/"+c.Table.String()] = true
		}
	}
	for _, sec := range sections {
		if !seen["/"+sec.table.String()] {
			continue
		}
		if err := emit(sec.file, nil); err != nil {
			return err
		}
		if err := sec.encode(s, func(b []byte) error { return emit(sec.file, b) }); err != nil {
			return fmt.Errorf("write %s: %w", sec.file, err)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(s.NodeState)) {
		for _, sec := range nodeSections {
			if !seen[node+"/"+sec.table.String()] {
				continue
			}
			file := "nodes/" + node + "/" + sec.table.String() + ".jsonl"
			if err := emit(file, nil); err != nil {
				return err
			}
			if err := sec.encode(s.NodeState[node], func(b []byte) error { return emit(file, b) }); err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(s.Unknown)) {
		if err := emit(file, slices.Clone(s.Unknown[file])); err != nil {
			return err
		}
	}
	return nil
}
