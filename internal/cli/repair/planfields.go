package repair

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/repair"
)

// reliesOn says which agents verify what before a write.
func reliesOn(sess *term.Session, p *repair.Plan) {
	nodes := map[string]bool{}
	all, dead, lives := false, 0, 0
	for i := range p.Targets {
		pr := p.Targets[i].Proof
		if pr.NotInUse != nil {
			dead++
			all = all || pr.NotInUse.All
			for _, n := range pr.NotInUse.Nodes {
				nodes[n] = true
			}
		}
		if pr.Running != nil {
			lives++
			nodes[pr.Running.Node] = true
		}
	}
	var parts []string
	if dead > 0 {
		parts = append(parts, fmt.Sprintf("nothing uses what is released (%d)", dead))
	}
	if lives > 0 {
		parts = append(parts, fmt.Sprintf("the pod that receives the record is running (%d)", lives))
	}
	if len(parts) == 0 {
		return
	}
	who := "the agents on " + strings.Join(some(nodes, 4), ", ")
	if len(nodes) == 1 {
		who = strings.Replace(who, "agents", "agent", 1)
	}
	switch {
	case all:
		who = "the agents on all nodes"
	case len(nodes) == 0:
		who = "the API server"
	}
	text := "live verification by " + who + " before each write: " + strings.Join(parts, "; ")
	field(sess, "Relies on", text)
}

// field prints a text behind its name.
func field(sess *term.Session, name, text string) {
	sess.PrintLabelled(sess.Width(), fmt.Sprintf("%-11s", name), text)
}

// touches says which other pods a plan affects, and what to know before applying it.
func touches(sess *term.Session, p *repair.Plan) {
	pods := map[string]bool{}
	var warnings []string
	for i := range p.Targets {
		for _, t := range p.Targets[i].Touches {
			pods[t] = true
		}
		for _, t := range p.Targets[i].Warnings {
			if !slices.Contains(warnings, t) {
				warnings = append(warnings, t)
			}
		}
	}
	if len(pods) == 0 {
		fmt.Fprintln(sess.Stdout, "Touches    no other pod")
	} else {
		field(sess, "Touches", strings.Join(some(pods, 10), ", "))
	}
	for i, t := range warnings {
		if i == 5 {
			fmt.Fprintf(sess.Stdout, "           ... %d more (-o yaml)\n", len(warnings)-i)
			break
		}
		field(sess, "Know", t)
	}
}

// refused says which findings are not repaired, and why; findings with one reason share a line.
func refused(sess *term.Session, rs []repair.Refusal, wide bool) {
	if len(rs) == 0 {
		return
	}
	why := map[string][]repair.Refusal{}
	var order []string
	for _, r := range rs {
		k := r.Why + "\x00" + r.Advice
		if wide {
			k += "\x00" + r.Finding
		}
		if why[k] == nil {
			order = append(order, k)
		}
		why[k] = append(why[k], r)
	}
	for _, k := range order {
		same := why[k]
		name := plain.Line(plain.ShortIDs(same[0].Finding))
		if len(same) > 1 {
			name = fmt.Sprintf("%s findings (%s ...)", plain.Thousands(len(same)), name)
		}
		field(sess, "Refused", name+": "+plain.ShortIDs(same[0].Why))
		if a := same[0].Advice; a != "" {
			field(sess, "", a)
		}
	}
}

// some names a few of a set.
func some(set map[string]bool, most int) []string {
	out := slices.Sorted(maps.Keys(set))
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("%s more", plain.Thousands(len(out)-most)))
	}
	return out
}
