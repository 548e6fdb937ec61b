package audit_test

import (
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A churn changes rows of a world at random, as nobody would who is well: names, nodes and
// addresses are taken from others. It keeps the truth apart from who is told the changes.
type churn struct {
	rnd     *rand.Rand
	s       *model.Snapshot
	changes []observe.Change
	gone    []func() // brings back what was removed
	n       int

	raised, cleared map[finding.Code]int
}

// tables that a churn can change rows of.
const churns = 10

func (c *churn) step() {
	switch c.rnd.IntN(churns + 4) {
	case 0, churns:
		change(c, &c.s.Pods, c.pod, (*model.Pod).Ref)
	case 1, churns + 1, churns + 2:
		change(c, &c.s.Blocks, c.block, (*model.Block).Ref)
	case 2:
		change(c, &c.s.Nodes, c.node, (*model.Node).Ref)
	case 3:
		change(c, &c.s.Handles, c.handle, (*model.Handle).Ref)
	case 4:
		change(c, &c.s.Affinities, c.affinity, (*model.Affinity).Ref)
	case 5:
		change(c, &c.s.Endpoints, c.endpoint, (*model.Endpoint).Ref)
	case 6:
		change(c, &c.s.Services, c.service, (*model.Service).Ref)
	case 7:
		change(c, &c.s.VMs, func(*model.VM) {}, (*model.VM).Ref)
	case 8:
		change(c, &c.s.Hosts, c.host, (*model.Host).Ref)
	case 9:
		if c.s.Info[0].Datastore == "etcd" && len(c.s.Hosts) == 0 { // Calico has nodes of its own
			for _, n := range c.s.Nodes {
				c.insert(&c.s.Hosts, model.Host{Name: c.one("h-"+n.Name, n.Name), Kubernetes: n.Name, Tunnels: slices.Clone(n.Tunnels)})
			}
		}
	default:
		if len(c.gone) > 0 {
			i := c.rnd.IntN(len(c.gone))
			back := c.gone[i]
			c.gone = slices.Delete(c.gone, i, i+1)
			back()
		}
	}
}

// replaced changes tables that are read as a whole, now and then.
func (c *churn) replaced(l *observe.Rows) error {
	var t model.Table
	switch c.rnd.IntN(12) {
	case 0:
		t = model.Events
		c.s.Events = slices.DeleteFunc(slices.Clone(c.s.Events), func(model.Event) bool { return c.rnd.IntN(2) == 0 })
		for range c.rnd.IntN(3) {
			p := pickRow(c, c.s.Pods)
			e := failedDEL(c.one(p.Name, "gone"), c.one(p.Node, c.someNode()), containerOf(p.Name))
			e.Last += model.Time(c.rnd.IntN(2000) - 600)
			c.s.Events = append(c.s.Events, e)
		}
	case 1:
		t = model.Components
		c.s.Components = []model.Component{{Name: "calico-kube-controllers", Wanted: 1, Ready: c.rnd.IntN(2), Version: c.one("v3.31.0", "v3.30.0")}}
	case 2:
		if c.rnd.IntN(4) > 0 {
			return nil
		}
		t = model.Cluster
		c.s.Info = slices.Clone(c.s.Info)
		c.s.Info[0].Ready = !c.s.Info[0].Ready
	case 3:
		if c.rnd.IntN(4) > 0 {
			return nil
		}
		t = model.Pools
		c.s.Pools = slices.Clone(c.s.Pools)
		c.s.Pools[0].Disabled = !c.s.Pools[0].Disabled
	case 4:
		c.facts(l)
		return nil
	default:
		return nil
	}
	return l.Replace(copied(c.s), t)
}

// facts lets a node say something else of itself.
func (c *churn) facts(l *observe.Rows) {
	n := pickRow(c, c.s.Nodes).Name
	f := c.s.NodeState[n]
	if f == nil {
		return
	}
	g := *f
	drop := func() bool { return c.rnd.IntN(3) == 0 }
	switch c.rnd.IntN(5) {
	case 3:
		g.Machines = slices.Clone(f.Machines)
		for i := range g.Machines {
			g.Machines[i].Felix = c.one("ready", "not ready", "not running", "")
		}
	case 4:
		g.Sysctls = append(slices.Clone(f.Sysctls), model.Sysctl{Device: "vxlan.calico", Key: "forwarding", Value: c.one("0", "1"), Since: old})
	case 0:
		g.Sandboxes = slices.DeleteFunc(slices.Clone(f.Sandboxes), func(model.Sandbox) bool { return drop() })
	case 1:
		g.Attachments = slices.DeleteFunc(slices.Clone(f.Attachments), func(model.Attachment) bool { return drop() })
	case 2:
		g.CNIConfigs = slices.DeleteFunc(slices.Clone(f.CNIConfigs), func(model.CNIConfig) bool { return drop() })
	}
	c.s.NodeState = maps.Clone(c.s.NodeState)
	c.s.NodeState[n] = &g
	l.PutNodes(copied(c.s))
}

func (c *churn) insert(rows *[]model.Host, h model.Host) {
	if slices.ContainsFunc(*rows, func(o model.Host) bool { return o.Name == h.Name }) {
		return
	}
	*rows = append(*rows, h)
	c.changes = append(c.changes, observe.Change{Ref: h.Ref(), Row: &h})
}

// change makes another of a row, takes it away, or does both: two rows never get one name.
func change[T any](c *churn, rows *[]T, other func(*T), ref func(*T) model.Ref) {
	if len(*rows) == 0 {
		return
	}
	i := c.rnd.IntN(len(*rows))
	old := (*rows)[i]
	if c.rnd.IntN(10) == 0 {
		*rows = slices.Delete(slices.Clone(*rows), i, i+1)
		c.changes = append(c.changes, observe.Change{Ref: ref(&old)})
		c.gone = append(c.gone, func() { bring(c, rows, old, ref) })
		return
	}
	row := old
	other(&row)
	if ref(&row) != ref(&old) {
		*rows = slices.Delete(slices.Clone(*rows), i, i+1)
		c.changes = append(c.changes, observe.Change{Ref: ref(&old)})
		bring(c, rows, row, ref)
		return
	}
	(*rows)[i] = row
	told := row
	c.changes = append(c.changes, observe.Change{Ref: ref(&row), Row: &told})
}

func bring[T any](c *churn, rows *[]T, row T, ref func(*T) model.Ref) {
	if slices.ContainsFunc(*rows, func(o T) bool { return ref(&o) == ref(&row) }) {
		return
	}
	*rows = append(slices.Clone(*rows), row)
	c.changes = append(c.changes, observe.Change{Ref: ref(&row), Row: &row})
}

func (c *churn) one(of ...string) string { return of[c.rnd.IntN(len(of))] }

func pickRow[T any](c *churn, rows []T) *T {
	if len(rows) == 0 {
		return new(T)
	}
	return &rows[c.rnd.IntN(len(rows))]
}

func (c *churn) someNode() string {
	if len(c.s.Hosts) > 0 && c.rnd.IntN(3) == 0 {
		return pickRow(c, c.s.Hosts).Name
	}
	return c.one(pickRow(c, c.s.Nodes).Name, pickRow(c, c.s.Nodes).Name, "nowhere")
}

// someAddress is one that somebody has, or nobody.
func (c *churn) someAddress() netip.Addr {
	if p := pickRow(c, c.s.Pods); len(p.IPs) > 0 && c.rnd.IntN(3) > 0 {
		return p.IPs[c.rnd.IntN(len(p.IPs))]
	}
	if b := pickRow(c, c.s.Blocks); b.CIDR.IsValid() && c.rnd.IntN(6) > 0 {
		return model.Offset(b.CIDR, int32(c.rnd.IntN(16)))
	}
	return netip.MustParseAddr("10.0.200.77")
}

func (c *churn) revision() string {
	c.n++
	return "r" + string(rune('a'+c.n%26))
}
