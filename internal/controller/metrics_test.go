package controller

import (
	"io"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/controller/objects"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/metrics"
	"plumbline.dev/plumbline/internal/model"
)

func page(t *testing.T, n *numbers) string {
	t.Helper()
	w := httptest.NewRecorder()
	metrics.Handler(n.now, n.judge).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	b, err := io.ReadAll(w.Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("%d, %v: %s", w.Code, err, b)
	}
	return string(b)
}

// What a judgement says becomes numbers; a code without findings is zero; who does not lead says nothing
// of the cluster.
func TestNumbers(t *testing.T) {
	t.Parallel()
	taken := model.At(time.Unix(1_800_000_000, 0))
	leaked := netip.MustParseAddr("10.0.0.7")
	s := &model.Snapshot{
		Meta:   model.Meta{Taken: taken},
		Pools:  []model.Pool{{Name: "p", CIDR: netip.MustParsePrefix("10.0.0.0/24"), BlockSize: 26}, {Name: "six", CIDR: netip.MustParsePrefix("fd00::/48"), BlockSize: 122}},
		Blocks: []model.Block{{CIDR: netip.MustParsePrefix("10.0.0.0/26"), Held: []model.Slot{{1, 0}, {7, 0}}}},
		Coverage: []model.Coverage{
			{Table: model.Pools, State: model.Complete},
			{Table: model.Blocks, State: model.Complete},
			{Table: model.Handles, State: model.Lost},
			{Table: model.Pods, State: model.Complete},
			{Table: model.Links, Node: "a", State: model.Complete},
			{Table: model.Routes, Node: "a", State: model.Complete},
			{Table: model.Links, Node: "b", State: model.Complete},
			{Table: model.Routes, Node: "b", State: model.Lost},
		},
		NodeState: map[string]*model.NodeState{"a": {CNIConfigs: []model.CNIConfig{{Loaded: true, Expires: taken.Add(time.Hour)}, {Expires: taken}}}},
	}
	r := &audit.Report{
		View: model.Seal(s), Taken: taken,
		Findings:    []finding.Finding{{Code: finding.PL1001, Class: finding.Leak, State: finding.Confirmed, Subject: model.Ref{Kind: model.KindAddress, Name: leaked.String()}}},
		Unconfirmed: []finding.Finding{{Code: finding.PL2001, Severity: finding.Error}},
	}
	n := newNumbers()
	n.elected(true)
	n.judged(cluster.Pass{Report: r, Took: time.Second, Agents: &cluster.AgentCount{Watched: 1, Silent: 1, Lag: 3 * time.Second}},
		[]objects.Count{{Code: finding.PL1001, Severity: finding.Warning, State: "Confirmed", N: 1}}, time.Unix(1_800_000_001, 0))
	got := page(t, n)
	for _, want := range []string{
		`plumbline_leader 1`,
		`plumbline_findings{code="PL1001",severity="warning",state="Confirmed"} 1`,
		`plumbline_findings{code="PL2001",severity="error",state="Confirmed"} 0`,
		`plumbline_findings{code="PL2001",severity="error",state="Unconfirmed"} 1`,
		`plumbline_last_success_timestamp_seconds 1.800000001e+09`,
		`plumbline_coverage_ratio{source="nodes"} 0.5`,
		`plumbline_coverage_ratio{source="kubernetes"} 1`,
		`plumbline_agents{state="watched"} 1`,
		`plumbline_agents{state="silent"} 1`,
		`plumbline_agent_event_lag_seconds 3`,
		`plumbline_pool_addresses{pool="p",state="used"} 1`,
		`plumbline_pool_addresses{pool="p",state="leaked"} 1`,
		`plumbline_pool_addresses{pool="p",state="free"} 254`,
		`plumbline_pool_blocks{pool="p",state="used"} 1`,
		`plumbline_pool_blocks{pool="p",state="free"} 3`,
		`plumbline_cni_token_expiry_seconds 3600`,
		`plumbline_judge_seconds_count 1`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("%s is missing", want)
		}
	}
	if !strings.Contains(got, `plumbline_coverage_ratio{source="calico"} 0.6`) {
		t.Error("handles were not read")
	}
	for _, not := range []string{`pool="six"`, leaked.String()} {
		if strings.Contains(got, not) {
			t.Errorf("%s is told", not)
		}
	}
	n.elected(false)
	if got := page(t, n); strings.Contains(got, "plumbline_findings") || !strings.Contains(got, "plumbline_leader 0\n") {
		t.Error("a replica that does not lead tells of the cluster")
	}
	// A report without pools says nothing of pools, rather than that none is used.
	n.elected(true)
	s.Coverage[0].State = model.Lost
	r.View = model.Seal(s)
	n.grow = []capacity.Forecast{{Pool: "p", PerDay: 1}}
	n.judged(cluster.Pass{Report: r, Reread: true}, nil, time.Unix(2_000_000_000, 0))
	if got := page(t, n); !strings.Contains(got, "last_success_timestamp_seconds 1.800000001e+09") || !strings.Contains(got, "judge_seconds_count 1\n") {
		t.Error("a reread is told as a judgement of the whole cluster")
	}
	n.judged(cluster.Pass{Report: r}, nil, time.Unix(1, 0))
	if got := page(t, n); strings.Contains(got, "plumbline_pool_addresses") || len(n.grow) > 0 {
		t.Error("pools were not read, and are told")
	}
}
