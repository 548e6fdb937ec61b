package metrics

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the dashboard anew")

const file = "../../charts/plumbline/files/dashboard.json"

// The dashboard in the chart is the one that is made here, and no panel covers another.
func TestDashboard(t *testing.T) {
	t.Parallel()
	want, err := made()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil { //nolint:gosec // it is part of the chart
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not current: make gen; %v", file, err)
	}
	var d struct {
		Panels []struct {
			Title   string
			GridPos struct{ X, Y, W, H int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(want, &d); err != nil || len(d.Panels) != len(panels) {
		t.Fatalf("%d panels, %v", len(d.Panels), err)
	}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		if p.GridPos.X+p.GridPos.W > whole || len(p.Targets) == 0 {
			t.Errorf("%+v", p)
		}
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[at] != "" {
					t.Fatalf("%s covers %s", p.Title, taken[at])
				}
				taken[at] = p.Title
			}
		}
	}
}

// A panel is one picture with its expressions.
type panel struct {
	title, kind, unit string
	width, height     int
	queries           []query
}

type query struct{ expr, legend string }

const (
	whole = 24 // columns
	half  = whole / 2
	tall  = 8
	short = 4
)

var panels = []panel{
	{"Errors", "stat", "short", 4, short, []query{{`sum(plumbline_findings{severity="error",state="Confirmed"})`, ""}}},
	{"Warnings", "stat", "short", 4, short, []query{{`sum(plumbline_findings{severity="warning",state="Confirmed"})`, ""}}},
	{"Not checked", "stat", "short", 4, short, []query{{`sum(plumbline_findings{state="NotChecked"}) or vector(0)`, ""}}},
	{"Nodes read", "stat", "percentunit", 4, short, []query{{`min(plumbline_coverage_ratio{source="nodes"})`, ""}}},
	{"Judged", "stat", "s", 4, short, []query{{`time() - max(plumbline_last_success_timestamp_seconds)`, ""}}},
	{"Leader", "stat", "short", 4, short, []query{{`sum(plumbline_leader)`, ""}}},
	{"Findings by code", "timeseries", "short", half, tall, []query{{`sum by (code, severity) (plumbline_findings{state="Confirmed"}) > 0 or sum(plumbline_findings{state="Confirmed"})`, "{{code}} {{severity}}"}}},
	{"Agents", "timeseries", "short", half, tall, []query{{`sum by (state) (plumbline_agents)`, "{{state}}"}}},
	{"Addresses of pools", "timeseries", "short", half, tall, []query{{`max by (pool, state) (plumbline_pool_addresses)`, "{{pool}} {{state}}"}}},
	{"Blocks of pools", "timeseries", "short", half, tall, []query{{`max by (pool, state) (plumbline_pool_blocks)`, "{{pool}} {{state}}"}}},
	{"Share of addresses that are leaked", "timeseries", "percentunit", half, tall, []query{
		{`max by (pool) (plumbline_pool_addresses{state="leaked"}) / sum by (pool) (max by (pool, state) (plumbline_pool_addresses))`, "{{pool}}"},
	}},
	{"Free addresses in four days", "timeseries", "short", half, tall, []query{{`max by (pool) (predict_linear(plumbline_pool_addresses{state="free"}[6h], 4 * 86400))`, "{{pool}}"}}},
	{"A judgement takes", "timeseries", "s", half, tall, []query{
		{`histogram_quantile(0.99, sum by (le) (rate(plumbline_judge_seconds_bucket[5m])))`, "99 %"},
		{`histogram_quantile(0.5, sum by (le) (rate(plumbline_judge_seconds_bucket[5m])))`, "half"},
	}},
	{"Longest silence of a watched agent", "timeseries", "s", half, tall, []query{{`max(plumbline_agent_event_lag_seconds)`, "silence"}}},
	{"Tokens of CNI plugins end in", "stat", "s", half, short, []query{{`min(plumbline_cni_token_expiry_seconds)`, ""}}},
	{"Memory of the controller", "timeseries", "bytes", half, short, []query{{`max by (pod, instance) (process_resident_memory_bytes and on (instance) plumbline_build_info)`, "{{pod}} {{instance}}"}}},
}

type object = map[string]any

// made is the dashboard as Grafana reads it.
func made() ([]byte, error) {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	var all []object
	x, y := 0, 0
	for i, p := range panels {
		if x+p.width > whole {
			x, y = 0, y+panels[i-1].height
		}
		var targets []object
		for n, q := range p.queries {
			targets = append(targets, object{"refId": string(rune('A' + n)), "expr": q.expr, "legendFormat": q.legend, "datasource": source})
		}
		all = append(all, object{
			"id": i + 1, "title": p.title, "type": p.kind, "datasource": source, "targets": targets,
			"gridPos":     object{"x": x, "y": y, "w": p.width, "h": p.height},
			"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []object{}},
		})
		x += p.width
	}
	b, err := json.MarshalIndent(object{
		"uid": "plumbline", "title": "Plumbline", "tags": []string{"calico", "plumbline"}, "schemaVersion": 39, "version": 1, "refresh": "1m",
		"time":       object{"from": "now-24h", "to": "now"},
		"templating": object{"list": []object{{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"}}},
		"panels":     all,
	}, "", "  ")
	return append(b, '\n'), err
}
