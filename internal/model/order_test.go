package model

import (
	"fmt"
	"slices"
	"testing"
)

// TestInOrder: every pod is a subject exactly once, those of a node one after the other.
func TestInOrder(t *testing.T) {
	s := &Snapshot{Nodes: []Node{{Name: "b"}, {Name: "a"}}}
	for i, node := range []string{"b", "", "a", "gone", "b", "a", ""} {
		s.Pods = append(s.Pods, Pod{Namespace: "n", Name: fmt.Sprint(i), Node: node})
	}
	v := Seal(s)
	var rows []int32
	var nodes []string
	for row := range v.InOrder(Pods) {
		rows, nodes = append(rows, row), append(nodes, v.Pod(row).Node)
	}
	if want := []string{"", "gone", "", "a", "a", "b", "b"}; !slices.Equal(nodes, want) {
		t.Errorf("nodes %q, want %q", nodes, want)
	}
	slices.Sort(rows)
	if want := []int32{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(rows, want) {
		t.Errorf("rows %v, want each once", rows)
	}
	if got := slices.Collect(v.InOrder(Nodes)); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("nodes: rows %v", got)
	}
}
