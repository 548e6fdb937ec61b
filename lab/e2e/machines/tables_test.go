//go:build e2e

package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// A row of a table, as JSON.
type row map[string]any

// text gives some values of a row, in order. Numbers are whole.
func (r row) text(keys ...string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		switch v := r[k].(type) {
		case float64:
			out[i] = fmt.Sprintf("%.0f", v)
		case nil:
			out[i] = "-"
		default:
			out[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(out, " ")
}

// tables: what the agent reads of a machine is what the machine's own tools print.
func (b *bench) tables() {
	bin, err := os.Open(product.Agent(b.t))
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = bin.Close() }()
	if err := b.machine.Send(b.t.Context(), "/var/tmp/agent", bin); err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.machine.Exec(b.t.Context(), "chmod", "+x", "/var/tmp/agent"); err != nil {
		b.t.Fatal(err)
	}
	// Neighbours come and go: a difference that lasts is one.
	b.eventually("equal tables", 10*time.Second, b.same)
}

// same reads both ways and compares.
func (b *bench) same(ctx context.Context) error {
	out, err := b.machine.Exec(ctx, "/var/tmp/agent", "snapshot", "--text", "--node", b.machine.Name, "--root", "/", "--proc", "/proc")
	if err != nil {
		return err
	}
	ours := tables(out)
	for _, c := range ours["coverage"] {
		if s := c.text("state"); s != "complete" && s != "not-there" {
			return fmt.Errorf("%s is %s: %s", c.text("table"), s, c.text("reason"))
		}
	}
	for _, what := range []struct {
		name   string
		ours   func() []string
		theirs func(context.Context, *lab.Node) ([]string, error)
	}{
		{"links", func() []string { return each(ours["links"], link) }, ipLinks},
		{"routes", func() []string {
			return each(ours["routes"], func(r row) string { return r.text("dst", "table", "link", "metric") })
		}, ipRoutes},
		{"rules", func() []string {
			return each(ours["rules"], func(r row) string { return r.text("priority", "table", "src") })
		}, ipRules},
		{"neighbours", func() []string {
			return each(ours["neighbours"], func(r row) string { return r.text("ip", "mac", "link") })
		}, ipNeighbours},
		{"sandboxes and containers", func() []string {
			return each(append(slices.Clone(ours["sandboxes"]), ours["containers"]...), func(r row) string { return r.text("id") })
		}, containers},
		{"CNI configurations", func() []string {
			return each(ours["cniconfigs"], func(r row) string { return "/etc/cni/net.d/" + r.text("file") })
		}, list("/etc/cni/net.d/*.conf*")},
		{"CNI results", func() []string {
			return each(ours["cniresults"], func(r row) string {
				return "/var/lib/cni/results/" + strings.ReplaceAll(r.text("network", "container", "interface"), " ", "-")
			})
		}, list("/var/lib/cni/results/*")},
	} {
		theirs, err := what.theirs(ctx, b.machine)
		if err != nil {
			return err
		}
		got := what.ours()
		slices.Sort(theirs)
		if !slices.Equal(got, theirs) {
			return fmt.Errorf("%s: only ours: %q; only theirs: %q", what.name, without(got, theirs), without(theirs, got))
		}
		b.t.Logf("%s: %d equal", what.name, len(got))
	}
	return b.there(ctx, ours)
}

// there requires that mounts and processes that the agent reports exist.
func (b *bench) there(ctx context.Context, ours map[string][]row) error {
	mounts, err := b.machine.Exec(ctx, "findmnt", "-rno", "TARGET")
	if err != nil {
		return err
	}
	for _, m := range ours["mounts"] {
		if err := stage.Expect(strings.Contains(mounts, m.text("target")+"\n"), "a mount %s", m.text("target")); err != nil {
			return err
		}
	}
	ps, err := b.machine.Exec(ctx, "ps", "-eo", "pid=,comm=")
	if err != nil {
		return err
	}
	for _, p := range ours["processes"] {
		if err := stage.Expect(strings.Contains(ps, p.text("pid")+" "+p.text("name")), "a process %s", p.text("pid", "name")); err != nil {
			return err
		}
	}
	b.t.Logf("%d mounts and %d processes exist", len(ours["mounts"]), len(ours["processes"]))
	return nil
}

// tables reads the text of a snapshot: a head for each table, and a row on each line.
func tables(text string) map[string][]row {
	out := map[string][]row{}
	at := ""
	for line := range strings.Lines(text) {
		if head, ok := strings.CutPrefix(line, "-- "); ok {
			path := strings.Split(strings.TrimSuffix(strings.TrimSpace(head), " --"), "/")
			at, _, _ = strings.Cut(path[len(path)-1], ".")
			continue
		}
		var r row
		if json.Unmarshal([]byte(line), &r) == nil {
			out[at] = append(out[at], r)
		}
	}
	return out
}

func each(rows []row, text func(row) string) []string {
	out := []string{}
	for _, r := range rows {
		out = append(out, text(r))
	}
	slices.Sort(out)
	return out
}

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// read runs a tool that prints JSON.
func read(ctx context.Context, n *lab.Node, argv ...string) ([]row, error) {
	out, err := n.Exec(ctx, argv...)
	if err != nil {
		return nil, err
	}
	var rows []row
	if strings.TrimSpace(out) == "" {
		return nil, nil
	}
	return rows, json.Unmarshal([]byte(out), &rows)
}

func link(r row) string {
	ips, _ := r["ips"].([]any)
	return r.text("index", "name", "kind") + " " + strings.Join(texts(ips), ",")
}

func texts(all []any) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = fmt.Sprint(v)
	}
	slices.Sort(out)
	return out
}

func ipLinks(ctx context.Context, n *lab.Node) ([]string, error) {
	rows, err := read(ctx, n, "ip", "-d", "-j", "addr")
	var out []string
	for _, r := range rows {
		var ips []any
		addrs, _ := r["addr_info"].([]any)
		for _, a := range addrs {
			m, _ := a.(map[string]any)
			ips = append(ips, row(m).text("local")+"/"+row(m).text("prefixlen"))
		}
		kind := "-"
		if info, ok := r["linkinfo"].(map[string]any); ok {
			kind = row(info).text("info_kind")
		}
		out = append(out, r.text("ifindex", "ifname")+" "+kind+" "+strings.Join(texts(ips), ","))
	}
	return out, err
}

// indices of the interfaces by name.
func indices(ctx context.Context, n *lab.Node) (map[string]string, error) {
	rows, err := read(ctx, n, "ip", "-j", "link")
	out := map[string]string{"-": "-"}
	for _, r := range rows {
		out[r.text("ifname")] = r.text("ifindex")
	}
	return out, err
}

func ipRoutes(ctx context.Context, n *lab.Node) ([]string, error) {
	of, err := indices(ctx, n)
	if err != nil {
		return nil, err
	}
	var out []string
	for family, all := range map[string]string{"-4": "0.0.0.0/0", "-6": "::/0"} {
		rows, err := read(ctx, n, "ip", "-N", "-j", family, "route", "show", "table", "all")
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			dst := r.text("dst")
			if notRead(r, dst) {
				continue
			}
			switch {
			case dst == "default":
				dst = all
			case !strings.Contains(dst, "/") && family == "-4":
				dst += "/32"
			case !strings.Contains(dst, "/"):
				dst += "/128"
			}
			table := r.text("table")
			if table == "-" {
				table = "254"
			}
			out = append(out, dst+" "+table+" "+of[r.text("dev")]+" "+r.text("metric"))
		}
	}
	return out, nil
}

// notRead are the routes that the agent leaves out: they lead to no pod.
func notRead(r row, dst string) bool {
	const broadcast, anycast, multicast = "3", "4", "5"
	return slices.Contains([]string{broadcast, anycast, multicast}, r.text("type")) || r.text("dev") == "lo" || strings.HasPrefix(dst, "fe80:")
}

func ipRules(ctx context.Context, n *lab.Node) ([]string, error) {
	var out []string
	for _, family := range []string{"-4", "-6"} {
		rows, err := read(ctx, n, "ip", "-N", "-j", family, "rule")
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			src := r.text("src")
			if src == "all" {
				src = "-"
			}
			out = append(out, r.text("priority", "table")+" "+src)
		}
	}
	return out, nil
}

func ipNeighbours(ctx context.Context, n *lab.Node) ([]string, error) {
	of, err := indices(ctx, n)
	if err != nil {
		return nil, err
	}
	rows, err := read(ctx, n, "ip", "-j", "neigh", "show", "nud", "all")
	var out []string
	for _, r := range rows {
		if state, _ := r["state"].([]any); slices.Contains(texts(state), "NOARP") {
			continue
		}
		out = append(out, r.text("dst", "lladdr")+" "+of[r.text("dev")])
	}
	return out, err
}

func containers(ctx context.Context, n *lab.Node) ([]string, error) {
	out, err := n.Ctr(ctx, "containers", "list", "-q")
	return strings.Fields(out), err
}

func list(pattern string) func(context.Context, *lab.Node) ([]string, error) {
	return func(ctx context.Context, n *lab.Node) ([]string, error) {
		out, err := n.Exec(ctx, "sh", "-c", "ls -d "+pattern)
		return slices.Sorted(maps.Keys(set(strings.Fields(out)))), err
	}
}

func set(all []string) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		out[s] = true
	}
	return out
}
