package audit_test

import (
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// cpu is what the process has used of the processors, its collector of garbage included.
func cpu(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// withFacts is a cluster whose nodes are asked about themselves.
func withFacts(nodes int) *model.Snapshot { return withFactsOf(nodes, nodes) }

// withFactsOf has the records of all nodes, and the state of the first of them.
func withFactsOf(nodes, of int) *model.Snapshot {
	const perNode = 30
	s := large(nodes * perNode)
	s.NodeState = map[string]*model.NodeState{}
	for i := range s.Nodes[:of] {
		name := s.Nodes[i].Name
		s.NodeState[name] = factsOf(name, s.Nodes[i].Tunnels[0].IP)
		for _, t := range model.FactTables() {
			s.Coverage = append(s.Coverage, model.Coverage{Table: t, Node: name, State: model.Complete})
		}
	}
	for i := range s.Pods[:of*perNode] {
		seat(s.NodeState[s.Pods[i].Node], &s.Pods[i], i%perNode, false)
	}
	return s
}
