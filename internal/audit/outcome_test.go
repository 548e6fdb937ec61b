package audit_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
)

// An outcome is the result of evaluating a world.
type outcome struct {
	heads map[string]finding.State // not folded away
	under map[string]string        // what explains the others
	blind []string                 // detectors that were skipped wrongly, or without being reported
}

func judged(t *rapid.T, w *world) outcome {
	s := w.s
	r := audit.Judge(t.Context(), &s, audit.Source{}, audit.Options{Detectors: detect.All})
	o := outcome{heads: map[string]finding.State{}, under: map[string]string{}, blind: w.blindness(r.Skipped)}
	for _, f := range slices.Concat(r.Findings, r.Unconfirmed) {
		o.heads[f.Key()] = f.State
		for _, k := range f.Explains {
			o.under[k] = f.Key()
		}
	}
	return o
}

func (o outcome) names() []string { return slices.Sorted(maps.Keys(o.heads)) }

// wrong compares an outcome with the expected findings. A name is a finding in any state; "!"
// before it: it must be confirmed, "?": it must not be; "X under Y": X must be folded under
// Y. No other finding is allowed.
func (o outcome) wrong(wants []string) string {
	wrong := slices.Clone(o.blind)
	heads, under := map[string]bool{}, map[string]bool{}
	for _, want := range wants {
		name, head, folded := strings.Cut(want, " under ")
		if folded {
			under[name] = true
			if o.under[name] != head {
				wrong = append(wrong, fmt.Sprintf("%s is not under %s but %q", name, head, o.under[name]))
			}
			continue
		}
		name = strings.TrimLeft(want, "!?")
		state, found := o.heads[name]
		heads[name] = true
		switch {
		case !found:
			wrong = append(wrong, name+" is missing")
		case want[0] == '!' && state != finding.Confirmed, want[0] == '?' && state != finding.Unconfirmed:
			wrong = append(wrong, name+" is "+string(state))
		}
	}
	for _, name := range o.names() {
		if !heads[name] {
			wrong = append(wrong, name+" is too much")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.under)) {
		if !under[name] {
			wrong = append(wrong, name+" under "+o.under[name]+" is too much")
		}
	}
	return strings.Join(wrong, "\n")
}

// blindness returns the detectors that were skipped although they could run, and those that
// could not run and are not reported as skipped.
func (w *world) blindness(skips []detect.Skip) []string {
	var out []string
	said := map[finding.Code]detect.Skip{}
	for _, s := range skips {
		said[s.Code] = s
	}
	for _, d := range detect.All {
		s, skipped := said[d.Code]
		nothing := d == detect.PL1012 || d == detect.PL2002 && !w.etcd || d == detect.PL5004 && w.etcd
		facts := slices.ContainsFunc(d.Needs, model.Table.OfNode)
		var nodes []string
		for _, node := range slices.Sorted(maps.Keys(w.lost)) {
			if !nothing && w.missed(d, node) {
				nodes = append(nodes, node)
			}
		}
		want := detect.Skip{NotApplicable: nothing, OutOfScope: facts && !w.agents && !nothing, Nodes: nodes}
		if past := w.pastKernel(d, nodes); past != nil {
			want.OutOfScope, nodes = true, past
		}
		if d.Code == finding.PL4006 && nodes != nil { // what nodes say of it only adds to Events
			want.OutOfScope = true
		}
		if must := want.NotApplicable || want.OutOfScope || nodes != nil; skipped != must ||
			s.NotApplicable != want.NotApplicable || s.OutOfScope != want.OutOfScope || !slices.Equal(s.Nodes, nodes) {
			out = append(out, fmt.Sprintf("%s: skipped %v %+v, want %v %+v", d.Code, skipped, s, must, want))
		}
	}
	return out
}

// pastKernel are the nodes of whose packets the kernel's own ways tell nothing, of those that were read.
func (w *world) pastKernel(d *detect.Detector, lost []string) (out []string) {
	if !slices.Contains([]finding.Code{finding.PL3008, finding.PL3009, finding.PL5006}, d.Code) || !w.agents {
		return nil
	}
	for _, n := range w.s.Nodes {
		if f := w.facts(n.Name); f != nil && f.Machines[0].Settings["FELIX_BPFENABLED"] == "true" && !slices.Contains(lost, n.Name) {
			out = append(out, n.Name)
		}
	}
	return slices.Sorted(slices.Values(out))
}

// missed reports whether a detector has a subject on a node whose tables were not read, or may have.
func (w *world) missed(d *detect.Detector, node string) bool {
	if slices.ContainsFunc(d.Each, func(t model.Table) bool { return slices.Contains(w.lost[node], t) }) {
		return true
	}
	if !slices.ContainsFunc(d.Needs, func(t model.Table) bool { return slices.Contains(w.lost[node], t) }) {
		return false
	}
	f := w.facts(node)
	return slices.ContainsFunc(d.Each, func(t model.Table) bool {
		switch t {
		case model.Nodes:
			return true
		case model.Pods:
			return slices.ContainsFunc(w.s.Pods, func(p model.Pod) bool { return p.Node == node })
		case model.Links:
			return f != nil && len(f.Links) > 0
		case model.Processes:
			return f != nil && len(f.Processes) > 0
		default:
			return false
		}
	})
}
