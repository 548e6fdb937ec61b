package controller

import (
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/buildinfo"
	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/controller/objects"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/metrics"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// The metrics. Those about the cluster are of the leader alone.
var (
	buildInfo    = metrics.NewGauge("build_info", "The version that runs.", "version")
	leads        = metrics.NewGauge("leader", "1 if this replica leads.")
	findings     = metrics.NewGauge("findings", "Findings by code, severity and state.", "code", "severity", "state")
	lastSuccess  = metrics.NewGauge("last_success_timestamp_seconds", "When the cluster was last judged.")
	coverage     = metrics.NewGauge("coverage_ratio", "Which share of a source was read completely: of the tables of kubernetes and calico, of the nodes.", "source")
	agents       = metrics.NewGauge("agents", "Agents: watched, asked through the API server, or silent.", "state")
	agentLag     = metrics.NewGauge("agent_event_lag_seconds", "The longest time for which a watched agent has sent nothing.")
	poolUse      = metrics.NewGauge("pool_addresses", "Addresses of a pool: used, leaked, reserved (by IPReservations) or free. Disabled pools, and those of a few addresses for Services, have no value for free.", "pool", "state")
	poolBlocks   = metrics.NewGauge("pool_blocks", "Blocks of a pool: used or free.", "pool", "state")
	poolGrowth   = metrics.NewGauge("pool_growth_addresses_per_second", "How many addresses of a pool are allocated more each second, over a window.", "pool", "window")
	poolEmpty    = metrics.NewGauge("pool_exhaustion_seconds", "Seconds until a pool has no free address any more if it grows on; none if it does not grow.", "pool")
	poolRegained = metrics.NewGauge("pool_leaked_seconds", "How much later that would be without the leaked addresses.", "pool")
	tokenExpiry  = metrics.NewGauge("cni_token_expiry_seconds", "Seconds until the first token of a node's CNI plugin ends.")
)

// numbers are what the metrics show. mu guards the fields below it.
type numbers struct {
	judge   *metrics.Histogram
	history *capacity.History // of the loop that judges
	whole   time.Time         // when it judged the whole cluster: rereads alone are no success
	grow    []capacity.Forecast

	mu     sync.Mutex
	leads  bool
	last   []metrics.Number
	shadow []metrics.Number
}

func newNumbers() *numbers {
	return &numbers{
		judge:   metrics.NewHistogram("judge_seconds", "How long a judgement of the whole cluster took.", .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60),
		history: capacity.NewHistory(),
	}
}

// elected: who does not lead knows nothing of the cluster.
func (n *numbers) elected(self bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.leads = self
	if !self {
		n.last, n.shadow = nil, nil
	}
}

// shadowed takes the numbers of the repair policies.
func (n *numbers) shadowed(all []metrics.Number) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shadow = all
}

// now gives all numbers.
func (n *numbers) now() []metrics.Number {
	n.mu.Lock()
	defer n.mu.Unlock()
	lead := 0.0
	if n.leads {
		lead = 1
	}
	return slices.Concat([]metrics.Number{buildInfo.Is(1, buildinfo.Read().Version), leads.Is(lead)}, n.last, n.shadow)
}

// judged takes the numbers of a judgement.
func (n *numbers) judged(p cluster.Pass, counts []objects.Count, now time.Time) {
	if !p.Reread {
		n.judge.Took(p.Took)
		n.whole = now
	}
	out := []metrics.Number{lastSuccess.At(n.whole)}
	out = append(out, findingNumbers(p.Report, counts)...)
	out = append(out, coverageNumbers(p.Report)...)
	if p.Agents != nil {
		out = append(out,
			agents.Is(float64(p.Agents.Watched), "watched"), agents.Is(float64(p.Agents.Asked), "asked"), agents.Is(float64(p.Agents.Silent), "silent"),
			agentLag.Is(p.Agents.Lag.Seconds()))
	}
	out = append(out, n.poolNumbers(p.Report)...)
	if at, ok := firstExpiry(p.Report); ok {
		out = append(out, tokenExpiry.Is(at.Sub(p.Report.Taken).Seconds()))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = out
}

// findingNumbers has a number for every code, so that what is resolved falls to zero.
func findingNumbers(r *audit.Report, counts []objects.Count) (out []metrics.Number) {
	type row struct{ code, severity, state string }
	all := map[row]float64{}
	for _, d := range detect.All {
		all[row{string(d.Code), string(d.Severity), v1alpha1.StateConfirmed}] = 0
	}
	for _, c := range counts {
		all[row{string(c.Code), string(c.Severity), c.State}] += float64(c.N)
	}
	for i := range r.Unconfirmed {
		f := &r.Unconfirmed[i]
		all[row{string(f.Code), string(f.Severity), "Unconfirmed"}]++
	}
	for k, n := range all {
		out = append(out, findings.Is(n, k.code, k.severity, k.state))
	}
	return out
}

// coverageNumbers: of a source that has nothing to read nothing is said.
func coverageNumbers(r *audit.Report) (out []metrics.Number) {
	read, all := map[string]int{}, map[string]int{}
	nodes := map[string]bool{}
	for _, c := range r.View.Coverage() {
		switch source := audit.SourceOf(c.Table); {
		case c.Node != "":
			whole, known := nodes[c.Node]
			nodes[c.Node] = c.State.Seen() && (whole || !known)
		case source != "":
			all[source]++
			if c.State.Seen() {
				read[source]++
			}
		}
	}
	for _, whole := range nodes {
		all["nodes"]++
		if whole {
			read["nodes"]++
		}
	}
	for _, source := range []string{"kubernetes", "calico", "nodes"} {
		if all[source] > 0 {
			out = append(out, coverage.Is(float64(read[source])/float64(all[source]), source))
		}
	}
	return out
}

func (n *numbers) poolNumbers(r *audit.Report) (out []metrics.Number) {
	n.grow = nil // what was known of pools that were not read now is old
	pools, ok := capacity.Pools(r)
	if !ok {
		return nil
	}
	n.history.Note(observe.Uptime(), pools)
	n.grow = n.history.Forecasts(pools)
	for i := range pools {
		p := &pools[i]
		if p.Addresses >= capacity.Many {
			continue
		}
		out = append(out,
			poolUse.Is(float64(p.Used), p.Name, "used"), poolUse.Is(float64(p.Leaked), p.Name, "leaked"), poolUse.Is(float64(p.Kept), p.Name, "reserved"),
			poolBlocks.Is(float64(p.UsedBlocks), p.Name, "used"), poolBlocks.Is(float64(max(0, p.Blocks-p.UsedBlocks)), p.Name, "free"))
		if p.Idle {
			continue // no alert may fire because none is free
		}
		out = append(out, poolUse.Is(float64(p.Free), p.Name, "free"))
		for name, window := range map[string]time.Duration{"6h": capacity.Short, "7d": capacity.Long} {
			if growth, ok := n.history.Growth(p.Name, window); ok {
				out = append(out, poolGrowth.Is(growth, p.Name, name))
			}
		}
		if in, more, ok := n.history.Empty(p); ok {
			out = append(out, poolEmpty.Is(in.Seconds(), p.Name), poolRegained.Is(more.Seconds(), p.Name))
		}
	}
	return out
}

func firstExpiry(r *audit.Report) (first model.Time, ok bool) {
	for _, f := range r.View.Snapshot().NodeState {
		for i := range f.CNIConfigs {
			if at := f.CNIConfigs[i].Expires; f.CNIConfigs[i].Loaded && !at.IsZero() && (!ok || at < first) {
				first, ok = at, true
			}
		}
	}
	return first, ok
}
