package audit_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// A loss is what was not read of a world: a table or half of one, of the cluster or of a node.
type loss struct {
	table model.Table
	node  string // of a node table
	half  bool
}

func (l loss) String() string {
	s := l.table.String()
	if l.node != "" {
		s += " of " + l.node
	}
	if l.half {
		s = "half of " + s
	}
	return s
}

// covers reports whether a table that a detector reads is of the lost one.
func (l loss) covers(t model.Table) bool {
	switch t {
	case model.Allocations: // derived
		return l.table == model.Blocks
	case model.Addresses:
		return l.table == model.Pods
	default:
		return l.table == t || l.table == t.Base()
	}
}

// losses draws what is not read: one table, or all of a node that does not answer.
func losses(t *rapid.T, s *model.Snapshot) []loss {
	nodes := slices.Sorted(maps.Keys(s.NodeState))
	half := rapid.Bool().Draw(t, "half")
	switch kind := rapid.IntRange(0, 9).Draw(t, "loss"); {
	case kind == 0 && len(nodes) > 0:
		node := rapid.SampledFrom(nodes).Draw(t, "silent node")
		var out []loss
		for _, table := range model.FactTables() {
			out = append(out, loss{table, node, false})
		}
		return out
	case kind < 6 && len(nodes) > 0:
		return []loss{{rapid.SampledFrom(model.FactTables()).Draw(t, "table"), rapid.SampledFrom(nodes).Draw(t, "node"), half}}
	default:
		var tables []model.Table
		for _, table := range model.Tables() {
			if !table.OfNode() && table == table.Base() {
				tables = append(tables, table)
			}
		}
		return []loss{{rapid.SampledFrom(tables).Draw(t, "table"), "", half}}
	}
}

// lacking gives a world of which something was not read, and says so.
func lacking(s model.Snapshot, all []loss, seed uint64) model.Snapshot {
	rnd := rand.New(rand.NewPCG(seed, 1))
	s.Coverage = slices.Clone(s.Coverage)
	s.NodeState = maps.Clone(s.NodeState)
	for _, l := range all {
		state := model.Lost
		if l.half {
			state = model.Partial
		}
		for i := range s.Coverage {
			if c := &s.Coverage[i]; c.Node == l.node && l.covers(c.Table) {
				c.State, c.Reason = state, "not read"
			}
		}
		if l.table == model.Cluster { // which datastore is read, the reader knows by itself
			s.Info = []model.Info{{Datastore: s.Info[0].Datastore}}
			continue
		}
		if l.node == "" {
			lose(rnd, reflect.ValueOf(&s).Elem(), l)
			continue
		}
		if l.table == model.Links && !l.half && len(all) > 1 {
			delete(s.NodeState, l.node)
		}
		if of := s.NodeState[l.node]; of != nil {
			copied := *of
			lose(rnd, reflect.ValueOf(&copied).Elem(), l)
			s.NodeState[l.node] = &copied
		}
	}
	return s
}

// lose removes rows of a table.
func lose(rnd *rand.Rand, tables reflect.Value, l loss) {
	rows := tables.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, l.table.String()) })
	if !rows.IsValid() {
		panic("no rows of " + l.table.String())
	}
	kept := reflect.MakeSlice(rows.Type(), 0, rows.Len())
	for i := range rows.Len() {
		if l.half && rnd.IntN(2) == 0 {
			kept = reflect.Append(kept, rows.Index(i))
		}
	}
	rows.Set(kept)
}

// Whatever is not read makes no finding: what was found may become "not checked", and never clean
// or another finding; and what does not depend on it stays. It judges three times as many worlds as
// the other properties.
func TestUnreadIsNeverClean(t *testing.T) {
	t.Parallel()
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, unreadIsNeverClean)
		})
	}
}

func unreadIsNeverClean(t *rapid.T) {
	w := newWorld(t)
	name := "healthy"
	if f := faults[rapid.IntRange(0, len(faults)-1).Draw(t, "fault")]; f.fits(w) {
		f.make(w)
		name = f.name
	}
	lost := losses(t, &w.s)
	before := detect.Run(model.Seal(&w.s), detect.All...)
	poor := lacking(w.s, lost, rapid.Uint64().Draw(t, "rows"))
	after := detect.Run(model.Seal(&poor), detect.All...)
	gaps := audit.Judge(t.Context(), &poor, audit.Source{}, audit.Options{Detectors: detect.All}).Gaps
	if wrong := dishonest(before, after, gaps, lost); len(wrong) > 0 {
		t.Fatalf("%s, without %v:\n%s", name, lost[0], strings.Join(wrong, "\n"))
	}
}

// dishonest compares the findings of a world with those of the same one of which less was read.
func dishonest(before, after detect.Result, gaps []model.Coverage, lost []loss) []string {
	var wrong []string
	was, is := findingsBy(before), findingsBy(after)
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if was[key] == nil && is[key].Class != finding.Node && is[key].Code != finding.PL9001 { // of that class nothing is confirmed
			wrong = append(wrong, "new: "+key+": "+is[key].Summary)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(was)) {
		f := was[key]
		if is[key] != nil || f.Code == finding.PL9001 {
			continue
		}
		d := detect.All[slices.IndexFunc(detect.All, func(d *detect.Detector) bool { return d.Code == f.Code })]
		in := func(tables []model.Table) bool {
			return slices.ContainsFunc(lost, func(l loss) bool { return slices.ContainsFunc(tables, l.covers) })
		}
		switch {
		case in(d.Needs) || in(d.Each):
			if !saysSo(after.Skipped, f, lost) {
				wrong = append(wrong, fmt.Sprintf("clean: %s is not said to be unchecked: %+v", key, after.Skipped))
			}
		case in(d.Uses): // what it showed is gone, which is said of the table
			if !slices.ContainsFunc(gaps, func(c model.Coverage) bool { return c.Node == lost[0].node }) {
				wrong = append(wrong, fmt.Sprintf("clean: %s rests on what was not read, and no gap says so: %+v", key, gaps))
			}
		default:
			wrong = append(wrong, fmt.Sprintf("gone: %s, although %s does not read it", key, d.Code))
		}
	}
	return wrong
}

func findingsBy(r detect.Result) map[string]*finding.Finding {
	out := map[string]*finding.Finding{}
	for i := range r.Findings {
		out[r.Findings[i].Key()] = &r.Findings[i]
	}
	return out
}

// saysSo reports whether the code of a finding is said to be unchecked where the finding was.
func saysSo(skips []detect.Skip, f *finding.Finding, lost []loss) bool {
	return slices.ContainsFunc(skips, func(s detect.Skip) bool {
		if s.Code != f.Code || s.NotApplicable {
			return false
		}
		return len(s.Nodes) == 0 || slices.ContainsFunc(lost, func(l loss) bool { return slices.Contains(s.Nodes, l.node) })
	})
}
