package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// explainNode shows a node's pods, blocks and state, and the findings about it.
func explainNode(ctx context.Context, sess *term.Session, name string, f flags) error {
	r, err := check(ctx, sess, f, func(x *finding.Finding) bool { return x.Node == name })
	if err != nil {
		return err
	}
	n := r.View.NodeByName(name)
	if n != nil && n.Name != name {
		return fmt.Errorf("node %s: Kubernetes calls it %s", name, n.Name)
	}
	cols := sess.Width()
	state := "does not exist"
	if n != nil {
		state = map[bool]string{true: "is ready", false: "is not ready: which pods run on it is not known"}[n.Ready]
	}
	pods, networked := 0, 0
	for i := range r.View.Rows(model.Pods) {
		if p := r.View.Pod(int32(i)); p.Node == name {
			pods++
			if p.Networked() {
				networked++
			}
		}
	}
	u := r.View.NodeUse(name)
	if n == nil && pods == 0 && u.Blocks == 0 && len(r.Findings)+len(r.Unconfirmed) == 0 && r.View.Sees("", model.Nodes, model.Pods, model.Blocks) {
		return fmt.Errorf("node %s: no such node, and no pod, block or finding names it", name)
	}
	if term.IsDocument(f.output) {
		return printReport(sess, r, "NodeExplanation", f.output)
	}
	sess.PrintLines(cols, fmt.Sprintf("node %s %s; %s", name, state, plain.Count(len(r.Findings)+len(r.Unconfirmed), "finding")),
		fmt.Sprintf("Pods     %d, %d with an address from Calico", pods, networked),
		fmt.Sprintf("Blocks   %d with %d addresses, %d allocated", u.Blocks, u.Size, u.Held))
	if n != nil {
		for _, t := range n.Tunnels {
			sess.PrintLines(cols, fmt.Sprintf("Tunnel   %s %s", t.Kind, t.IP))
		}
	}
	nodeFacts(r.View, name, func(l string) { sess.PrintLines(cols, l) })
	findingLines(sess, r)
	return nil
}

// nodeFacts prints what the agent reports of the node.
func nodeFacts(v *model.View, name string, print func(string)) {
	var not []string
	read := false
	for _, t := range model.FactTables() {
		switch v.State(t, name) {
		case model.Complete, model.NotThere:
			read = true
		case model.Unread:
		default:
			not = append(not, t.String())
		}
	}
	if !read && len(not) == 0 {
		print("Not checked: node state (no agents installed)")
		return
	}
	if m := v.MachineOf(name); m != nil {
		print(fmt.Sprintf("Machine  up %s, kernel %s, Felix %s, CNI plugin %s", hours(m.Uptime), plain.Dash(m.Kernel), plain.Dash(m.Felix), cmp.Or(m.Plugin, "of unknown version")))
		if m.Ahead != 0 {
			print(fmt.Sprintf("Clock    differs from the API server's by %s: stamps in its logs do too", cluster.ClockOff(time.Duration(m.Ahead)*time.Second)))
		}
	}
	for c := range v.CNIConfigsOn(name) {
		if c.Loaded {
			print(fmt.Sprintf("Network  %s in %s: plugins %s, IPAM %s, nodename %s", c.Network, c.File, strings.Join(c.Plugins, " and "), plain.Dash(c.IPAM), plain.Dash(c.NodeName)))
		}
	}
	var runtime, slowest string
	var most int64
	for r := range v.RuntimesOn(name) {
		runtime += r.Name
		if r.Error != "" {
			slowest = r.Call + " does not answer"
			most = 1 << 62
		} else if r.Millis >= most {
			slowest, most = fmt.Sprintf("slowest call %s, %d ms", r.Call, r.Millis), r.Millis
		}
	}
	if slowest != "" {
		print("Runtime  " + plain.Dash(runtime) + "; " + slowest)
	}
	if len(not) > 0 {
		slices.Sort(not)
		print("Not checked: " + strings.Join(not, ", "))
	}
}

func hours(seconds int64) string {
	if seconds >= 2*86400 {
		return fmt.Sprintf("%dd", seconds/86400)
	}
	return fmt.Sprintf("%dh%02dm", seconds/3600, seconds/60%60)
}
