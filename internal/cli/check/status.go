package check

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// StatusCommand is the command status; guards gives its line about the guards of the nodes.
func StatusCommand(sess *term.Session, guards guardSummary) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show the cluster, its Calico datastore, pools, agents and what cannot be read",
		Example: fmt.Sprintf("  %s status", sess.Program),
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStatus(cmd.Context(), sess, guards, output) },
	}
	term.OutputFlag(c.Flags(), &output, "text", "json")
	return c
}

// A guardSummary says in one line what the guards of the nodes do.
type guardSummary func(said []cluster.GuardStatus, unread map[string]error) string

func runStatus(ctx context.Context, sess *term.Session, guards guardSummary, output string) error {
	s, guard, err := overview(ctx, sess, guards)
	if err != nil {
		return err
	}
	r := audit.Judge(ctx, s, audit.Source{}, audit.Options{})
	grow := growthOf(ctx, sess)
	if term.IsDocument(output) {
		return sess.PrintDocument(statusOf(r, guard, grow), output)
	}
	statusText(sess, r, guard, grow)
	return nil
}

// overview reads everything once, of the cluster or of a bundle. Agents are only asked how
// many rows they have, and how their guards are; without agents the summary of them is empty.
func overview(ctx context.Context, sess *term.Session, guards guardSummary) (s *model.Snapshot, guard string, err error) {
	if sess.Bundle != "" {
		s, err := cluster.ReadBundle(sess.Bundle)
		return s, "", err
	}
	c, done, err := sess.Open(ctx)
	if err != nil {
		return nil, "", err
	}
	defer done()
	defer c.Close()
	p := c.Guards()
	if p == nil {
		s, err := c.Overview(ctx)
		return s, "", err
	}
	var wg sync.WaitGroup
	wg.Go(func() { guard = guards(p.Status(ctx)) })
	s, err = c.Overview(ctx)
	wg.Wait()
	return s, guard, err
}

func statusText(sess *term.Session, r *audit.Report, guard string, grow growth) {
	s := r.View.Snapshot()
	info := r.View.Info()
	cols := sess.Width()
	kind := "CRDs, " + info.Group
	if info.Datastore == "etcd" {
		kind = "etcd"
	}
	if strings.HasPrefix(info.Group, "projectcalico.org") {
		kind += ", not tested on a real cluster"
	}
	rows := [][]string{
		{"Cluster", fmt.Sprintf("%s, Kubernetes %s, Calico %s (%s)", plain.Dash(s.Meta.GUID), plain.Dash(info.Kubernetes), plain.Dash(info.Calico), kind)},
		{"Calico", r.Calico.Why},
		{"Objects", fmt.Sprintf("pods %s  nodes %s  blocks %s  handles %s  endpoints %s", plain.Thousands(len(s.Pods)), plain.Thousands(len(s.Nodes)), plain.Thousands(len(s.Blocks)), plain.Thousands(len(s.Handles)), endpoints(r, s))},
		{"Read", r.Taken.Time().UTC().Format(plain.MinuteLayout) + skew(s)},
		{"Datastore", datastore(r)},
		{"Agents", agentsLine(r)},
	}
	if guard != "" {
		rows = append(rows, []string{"Guard", guard})
	}
	for i := range s.Pools {
		p := &s.Pools[i]
		u := r.View.PoolUse(int32(i))
		label := ""
		if i == 0 {
			label = "Pools"
		}
		size := model.Size(p.CIDR, 1<<30)
		rows = append(rows, []string{label, fmt.Sprintf("%s %s  %s, %d%% used, %s blocks%s", p.Name, p.CIDR, cmp.Or(p.Tunnel, "no encapsulation"), u.Held*100/max(size, 1), plain.Thousands(u.Blocks), map[bool]string{true: ", disabled"}[p.Disabled])})
		if says := grow.of(p.Name); says != "" {
			rows = append(rows, []string{"", says})
		}
	}
	if grow.unread != "" {
		rows = append(rows, []string{"Not checked", "growth of pools: " + grow.unread})
	}
	if n := encrypted(s); n > 0 {
		rows = append(rows, []string{"Encryption", fmt.Sprintf("WireGuard on %s of %s nodes", plain.Thousands(n), plain.Thousands(len(s.Nodes)))})
	}
	for _, c := range r.Gaps {
		if c.Node == "" {
			rows = append(rows, []string{"Not checked", c.Table.String() + ": " + c.Reason})
		}
	}
	for _, l := range r.NodesNotChecked() {
		rows = append(rows, []string{"Not checked", strings.TrimPrefix(l, "Not checked: ")})
	}
	rows = append(rows, []string{"Next", sess.Program + " check"})
	sess.PrintTable(cols, rows)
}

// encrypted counts the nodes that have an address for WireGuard.
func encrypted(s *model.Snapshot) int {
	on := map[string]bool{}
	note := func(node string, tunnels []model.Tunnel) {
		for _, t := range tunnels {
			on[node] = on[node] || strings.HasPrefix(t.Kind, "wireguard")
		}
	}
	for i := range s.Nodes {
		note(s.Nodes[i].Name, s.Nodes[i].Tunnels)
	}
	for i := range s.Hosts {
		note(cmp.Or(s.Hosts[i].Kubernetes, s.Hosts[i].Name), s.Hosts[i].Tunnels)
	}
	n := 0
	for _, yes := range on {
		if yes {
			n++
		}
	}
	return n
}

// agentsLine says how many agents answer.
func agentsLine(r *audit.Report) string {
	if !r.View.Agents() {
		return "none installed: node state is not checked"
	}
	n, of := answering(r)
	return fmt.Sprintf("%s of %s nodes answer", plain.Thousands(n), plain.Thousands(of))
}

// answering counts the nodes whose agents answer, and those that were asked.
func answering(r *audit.Report) (n, of int) {
	s := r.View.Snapshot()
	asked, answer := map[string]bool{}, map[string]bool{}
	for _, c := range s.Coverage {
		if c.Node == "" {
			continue
		}
		asked[c.Node] = true
		answer[c.Node] = answer[c.Node] || c.State.Seen()
	}
	for _, yes := range answer {
		if yes {
			n++
		}
	}
	return n, len(asked)
}

func endpoints(r *audit.Report, s *model.Snapshot) string {
	if r.View.State(model.Endpoints, "") == model.NotThere {
		return "in the pods"
	}
	return plain.Thousands(len(s.Endpoints))
}

// skew says how far apart in time the sources were read.
func skew(s *model.Snapshot) string {
	var first, last model.Time
	for _, c := range s.Coverage {
		if c.At.IsZero() {
			continue
		}
		if first.IsZero() || c.At < first {
			first = c.At
		}
		last = max(last, c.At)
	}
	return fmt.Sprintf(", sources read within %s", last.Sub(first))
}

func datastore(r *audit.Report) string {
	out := "ready, not locked"
	if !r.View.Info().Ready {
		out = "LOCKED: no pod can start or stop"
	}
	c, ok := r.View.Collector()
	switch {
	case !ok:
		return out + "; settings of the IPAM garbage collector unknown"
	case c.LeakGracePeriod == 0:
		return out + "; IPAM garbage collector off"
	default:
		return out + fmt.Sprintf("; IPAM garbage collector grace period %dm", c.LeakGracePeriod/60)
	}
}
