package explain

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// A hit is one place where something was found.
type hit struct {
	Node string `json:"node"`          // on which it is
	What string `json:"what"`          // it is, in words
	Pod  string `json:"pod,omitempty"` // NAMESPACE/NAME
}

// A lookup is what explain device, mac, sandbox, pid and volume print as JSON.
type lookup struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Of         string   `json:"of"`   // device, mac, sandbox, pid or volume
	Name       string   `json:"name"` // that was looked for
	Found      []hit    `json:"found"`
	Answered   int      `json:"answered"`         // nodes
	Silent     []string `json:"silent,omitempty"` // nodes of which not everything could be read
}

// finders find by what a person has in hand, on all nodes.
var finders = map[string]func(*model.View, model.Sought) []hit{
	"device": byInterface, "mac": byInterface, "sandbox": bySandbox, "pid": byPID, "volume": byVolume,
}

// explainWhere finds on which node something is, and whose it is.
func explainWhere(ctx context.Context, sess *term.Session, kind, name string, f flags) error {
	sought, err := model.Seek(kind, name)
	if err != nil {
		return fmt.Errorf("explain %s: %w", kind, err)
	}
	v, err := whereOf(ctx, sess, sought)
	if err != nil {
		return err
	}
	out := lookup{APIVersion: cluster.APIVersion, Kind: "Lookup", Of: kind, Name: name, Found: term.NotNil(finders[kind](v, sought))}
	for _, node := range nodesOf(v) {
		if v.Sees(node, sought.Tables()...) {
			out.Answered++
		} else {
			out.Silent = append(out.Silent, node)
		}
	}
	slices.SortFunc(out.Found, func(a, b hit) int { return strings.Compare(a.Node+a.What+a.Pod, b.Node+b.What+b.Pod) })
	if term.IsDocument(f.output) {
		return sess.PrintDocument(out, f.output)
	}
	whereText(sess, out)
	return nil
}

// nodesOf gives the nodes that have an agent, or should have one.
func nodesOf(v *model.View) []string {
	seen := map[string]bool{}
	for _, c := range v.Snapshot().Coverage {
		if c.Node != "" {
			seen[c.Node] = true
		}
	}
	for node := range v.Snapshot().NodeState {
		seen[node] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func whereOf(ctx context.Context, sess *term.Session, sought model.Sought) (*model.View, error) {
	if sess.Bundle != "" {
		r, err := sess.Check(ctx, audit.Options{}, "", "")
		if err != nil {
			return nil, err
		}
		return r.View, nil
	}
	o, done := sess.Options()
	defer done()
	return cluster.Where(ctx, o, sought)
}

func whereText(sess *term.Session, l lookup) {
	cols := sess.Width()
	sess.PrintLines(cols, fmt.Sprintf("%s %s: found %s on %s that answered", l.Of, plain.Line(l.Name), plain.Count(len(l.Found), "time"), plain.Count(l.Answered, "node")))
	const many = 50
	pod := ""
	for i, h := range l.Found {
		if i == many {
			sess.PrintLines(cols, fmt.Sprintf("  and %d others (-o json lists all)", len(l.Found)-many))
			break
		}
		whose := ""
		if h.Pod != "" {
			whose = ", pod " + plain.Line(h.Pod)
			if pod == "" {
				pod = h.Pod
			}
		}
		sess.PrintLabelled(cols, "  ", fmt.Sprintf("%s: %s%s", h.Node, h.What, whose))
	}
	if n := len(l.Silent); n > 0 {
		more := ""
		if n > 5 {
			more = " …"
		}
		sess.PrintLines(cols, fmt.Sprintf("Not checked: %s could not be read: %s%s", plain.Count(n, "node"), strings.Join(l.Silent[:min(n, 5)], ", "), more))
	}
	if ns, name, ok := strings.Cut(pod, "/"); ok {
		sess.Next("explain pod %s -n %s", plain.Quoted(name), plain.Quoted(ns))
	}
}
