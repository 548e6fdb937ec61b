package audit

import (
	"fmt"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

func TestPredating(t *testing.T) {
	t.Parallel()
	taken := model.At(time.Date(2017, 12, 5, 12, 0, 0, 0, time.UTC))
	upgrade := model.At(time.Date(2017, 12, 4, 10, 8, 0, 0, time.UTC))
	const boot = 30 * 86400 // seconds before the check
	s := &model.Snapshot{NodeState: map[string]*model.NodeState{}}
	for _, n := range []string{"n1", "n2", "unknown"} {
		m := model.Machine{BootID: "b", Uptime: boot, Kubelet: boot - int64(taken.Sub(upgrade)/time.Second)}
		if n == "n2" {
			m.Kubelet += 600
		}
		if n == "unknown" {
			m.Kubelet = 0
		}
		s.NodeState[n] = &model.NodeState{Machines: []model.Machine{m}}
	}
	left := func(node string, at model.Time, n int) (out []finding.Finding) {
		for range n {
			e := model.Endpoint{Namespace: "a", Name: fmt.Sprintf("%s-%d", node, len(s.Endpoints)), Node: node, Created: at}
			s.Endpoints = append(s.Endpoints, e)
			ref := e.Ref()
			out = append(out, finding.Finding{Code: finding.PL2002, Node: node, Subject: ref, Evidence: []finding.Evidence{{Ref: ref}, {Ref: model.Ref{Kind: model.KindPod, Name: "a/gone"}, Says: "no such pod"}}})
		}
		return out
	}
	old, fresh := upgrade.Add(-20*24*time.Hour), upgrade.Add(time.Hour)
	tests := map[string]struct {
		found []finding.Finding
		want  string
	}{
		"after an upgrade":     {append(left("n1", old, 10), left("n1", fresh, 2)...), "10 of 12 leaked records are older than the kubelet of their node (1 node, started 2017-12-04 10:08 UTC): it does not know them, and calls no DEL"},
		"of two nodes":         {append(left("n1", old, 4), left("n2", old, 4)...), "8 of 8 leaked records are older than the kubelet of their node (2 nodes, started 2017-12-04 10:08 - 2017-12-04 10:18 UTC): it does not know them, and calls no DEL"},
		"few":                  {left("n1", old, 4), ""},
		"most are newer":       {append(left("n1", old, 6), left("n1", fresh, 6)...), ""},
		"an unknown kubelet":   {left("unknown", old, 10), ""},
		"undated":              {left("n1", 0, 10), ""},
		"a node without state": {left("n9", old, 10), ""},
	}
	view := model.Seal(s)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if p := (&Report{Findings: test.found, View: view.Aside(), Taken: taken}).Predating(); p != nil {
				got = p.String()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
