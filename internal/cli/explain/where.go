package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/model"
)

// A hit is one place where something was found.
type hit struct {
	Node string `json:"node"`
	What string `json:"what"`
	Pod  string `json:"pod,omitempty"` // NAMESPACE/NAME
}

// A lookup is what explain device, mac, sandbox, pid and volume print as JSON.
type lookup struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Of         string   `json:"of"`
	Name       string   `json:"name"`
	Found      []hit    `json:"found"`
	Answered   int      `json:"answered"`         // nodes
	Silent     []string `json:"silent,omitempty"` // nodes that did not answer
}

// finders find by the name that a person has in hand, on all nodes.
var finders = map[string]func(v *model.View, name string) []hit{"device": byDevice, "mac": byMAC, "sandbox": bySandbox, "pid": byPID, "volume": byVolume}

// explainWhere finds on which node something is, and whose it is.
func explainWhere(ctx context.Context, sess *term.Session, kind, name string, f flags) error {
	if kind == "sandbox" && len(name) < 8 {
		return errors.New("explain sandbox: at least 8 digits of its ID")
	}
	v, err := whereOf(ctx, sess)
	if err != nil {
		return err
	}
	out := lookup{APIVersion: cluster.APIVersion, Kind: "Lookup", Of: kind, Name: name, Found: term.NotNil(finders[kind](v, name))}
	for node := range v.Snapshot().NodeState {
		if v.Sees(node, model.Links, model.Sandboxes) {
			out.Answered++
		} else {
			out.Silent = append(out.Silent, node)
		}
	}
	slices.Sort(out.Silent)
	slices.SortFunc(out.Found, func(a, b hit) int { return strings.Compare(a.Node+a.What, b.Node+b.What) })
	if f.output == "json" {
		return sess.PrintDocument(out, "json")
	}
	whereText(sess, out)
	return nil
}

func whereOf(ctx context.Context, sess *term.Session) (*model.View, error) {
	if sess.Bundle != "" {
		r, err := sess.Check(ctx, audit.Options{}, "", "")
		if err != nil {
			return nil, err
		}
		return r.View, nil
	}
	o, done := sess.Options()
	defer done()
	return cluster.Where(ctx, o)
}

func whereText(sess *term.Session, l lookup) {
	cols := sess.Width()
	sess.PrintLines(cols, fmt.Sprintf("%s %s: found %s on %s that answered", l.Of, term.Line(l.Name), term.Count(len(l.Found), "time"), term.Count(l.Answered, "node")))
	pod := ""
	for _, h := range l.Found {
		whose := ""
		if h.Pod != "" {
			whose = ", pod " + term.Line(h.Pod)
			if pod == "" {
				pod = h.Pod
			}
		}
		sess.PrintLabelled(cols, "  ", fmt.Sprintf("%s: %s%s", h.Node, h.What, whose))
	}
	if n := len(l.Silent); n > 0 {
		sess.PrintLines(cols, fmt.Sprintf("Not checked: %s did not answer: %s", term.Count(n, "node"), strings.Join(l.Silent[:min(n, 5)], ", ")))
	}
	if ns, name, ok := strings.Cut(pod, "/"); ok {
		sess.Next("explain pod %s -n %s", term.Line(name), term.Line(ns))
	}
}
