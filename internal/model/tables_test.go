package model

import (
	"reflect"
	"testing"
	"time"
)

// Every table of node state is moved in time, placed on its node, and taken over: what forgets one would compare clocks of
// two machines, or lose its rows.
func TestEveryTableOfNodeState(t *testing.T) {
	t.Parallel()
	const since = Time(1_800_000_000_000_000)
	full := func() *NodeState {
		var f NodeState
		for _, rows := range reflect.ValueOf(&f).Elem().Fields() {
			if rows.Kind() != reflect.Slice || rows.Type().Elem().Kind() != reflect.Struct {
				continue
			}
			rows.Set(reflect.MakeSlice(rows.Type(), 1, 1))
			rows.Index(0).FieldByName("Since").Set(reflect.ValueOf(since))
		}
		return &f
	}
	f := full()
	f.Shift(time.Hour)
	f.Place("node1")
	var taken NodeState
	taken.Take(f, FactTables()...)
	tables := 0
	for field, rows := range reflect.ValueOf(&taken).Elem().Fields() {
		if rows.Kind() != reflect.Slice || rows.Type().Elem().Kind() != reflect.Struct {
			continue
		}
		tables++
		if rows.Len() != 1 {
			t.Errorf("Take leaves %s", field.Name)
			continue
		}
		row := rows.Index(0)
		if got := row.FieldByName("Since").Interface(); got != since.Add(time.Hour) {
			t.Errorf("Shift leaves %s: %v", field.Name, got)
		}
		if got := row.FieldByName("Node").String(); got != "node1" {
			t.Errorf("Place leaves %s: %q", field.Name, got)
		}
	}
	if tables != len(FactTables()) {
		t.Errorf("%d tables, and FactTables has %d", tables, len(FactTables()))
	}
}
