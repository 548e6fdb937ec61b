package explain

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/plain"
)

// An end is a pod as it was read and judged; two of them are the ends of a way.
type end struct {
	ref    model.Ref
	pod    *model.Pod
	claims []netip.Addr // that any source says it has
	ip     netip.Addr   // that packets are followed to
	node   string
	r      *audit.Report
	u      *cluster.Scoped
}

// A hop is a step of the way of packets from one pod to another.
type hop struct {
	At      string `json:"at"`                // pod, node, or way between nodes
	Says    string `json:"says"`              // what packets meet there
	Broken  string `json:"broken,omitempty"`  // why packets do not get further
	Maybe   string `json:"maybe,omitempty"`   // likewise, of a finding that is not confirmed
	Warning string `json:"warning,omitempty"` // what else is wrong here; it does not stop all of these packets
	Unread  string `json:"unread,omitempty"`  // what was not checked here
}

// A wayDocument is the way as JSON.
type wayDocument struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	From       string `json:"from"` // NAMESPACE/NAME
	To         string `json:"to"`   // NAMESPACE/NAME
	Hops       []hop  `json:"hops"`
}

// explainTo follows packets from one pod to another, and back.
func explainTo(ctx context.Context, sess *term.Session, ns, name string, f flags) error {
	from, done, err := endAt(ctx, sess, ns, name, f)
	if err != nil {
		return err
	}
	defer done()
	toNS, toName := sess.PodNamed(f.to, ns)
	to, done, err := endAt(ctx, sess, toNS, toName, f)
	if err != nil {
		return err
	}
	defer done()
	return showWay(ctx, sess, from, to, f.output)
}

// showWay prints the way between two pods, if there can be one.
func showWay(ctx context.Context, sess *term.Session, from, to end, output string) error {
	if from.pod.HostNetwork || to.pod.HostNetwork {
		return fmt.Errorf("%s and %s: a pod on the host network has the node's own way", from.ref.Name, to.ref.Name)
	}
	if err := shareFamily(&from, &to); err != nil {
		return err
	}
	hops := slices.Concat(from.hops(), between(&from, &to), to.back(&from))
	if term.IsDocument(output) {
		return sess.PrintDocument(wayDocument{cluster.APIVersion, "WayExplanation", from.ref.Name, to.ref.Name, hops}, output)
	}
	toText(ctx, sess, &from, &to, hops)
	return nil
}

// endAt reads one pod and judges it and its node.
func endAt(ctx context.Context, sess *term.Session, ns, name string, f flags) (e end, done func(), err error) {
	e.ref = model.Ref{Kind: model.KindPod, Name: ns + "/" + name}
	if e.u, done, err = openScoped(ctx, sess); err != nil {
		return e, nil, err
	}
	ips, found, err := e.u.Pod(ctx, ns, name)
	if err == nil && !found {
		err = fmt.Errorf("pod %s does not exist", e.ref.Name)
	}
	if err != nil {
		done()
		return e, nil, err
	}
	about := []model.Ref{e.ref}
	for _, ip := range ips {
		about = append(about, model.Ref{Kind: model.KindAddress, Name: ip.String()})
	}
	e.claims, e.node = ips, e.u.NodeOf(e.ref)
	e.r = e.u.Judge(ctx, f.settle, e.node, about...)
	e.pod = e.r.View.PodByName(ns, name)
	return e, done, nil
}

// shareFamily sets the addresses that are followed: IPv4 if both have one.
func shareFamily(a, b *end) error {
	for _, six := range []bool{false, true} {
		is := func(ip netip.Addr) bool { return ip.Is6() == six }
		i, k := slices.IndexFunc(a.pod.IPs, is), slices.IndexFunc(b.pod.IPs, is)
		if i >= 0 && k >= 0 {
			a.ip, b.ip = a.pod.IPs[i], b.pod.IPs[k]
			return nil
		}
	}
	return fmt.Errorf("%s and %s have no addresses of one family", a.ref.Name, b.ref.Name)
}

// hops are the pod itself and its node.
func (e *end) hops() []hop {
	pod, node := hop{At: e.ref.Name, Says: e.ip.String()}, hop{At: "node " + e.node, Says: "receives and forwards"}
	for _, fs := range [][]finding.Finding{e.r.Findings, e.r.Unconfirmed, e.r.Folded} {
		for i := range fs {
			at := &pod
			if fs[i].Subject.Kind == model.KindNode {
				at = &node
			}
			if fs[i].Code != finding.PL3007 { // the way is a hop of its own
				at.tell(&fs[i])
			}
		}
	}
	if pod.Unread = unseen(e.r.View, e.node, model.Links, model.Paths, model.Attachments, model.Sysctls); pod.Unread != "" {
		node.Says, node.Unread = "-", pod.Unread
	} else if !e.r.View.Sees(e.node, model.Firewall) {
		node.Unread = "firewall rules"
	}
	return []hop{pod, node}
}

// stops are the codes whose errors stop packets between two running pods. Others concern pods to come, Services, policies or
// records: they break nothing that exists.
var stops = []finding.Code{
	finding.PL1010, finding.PL2001, finding.PL2010, finding.PL3002, finding.PL3003, finding.PL3004, finding.PL3005, finding.PL3006, finding.PL3008, finding.PL5005,
}

// tell adds a finding: the first of each kind.
func (h *hop) tell(f *finding.Finding) {
	stop := f.Severity == finding.Error && slices.Contains(stops, f.Code)
	into := &h.Warning
	switch {
	case stop && f.State == finding.Confirmed:
		into = &h.Broken
	case stop:
		into = &h.Maybe
	case f.Severity != finding.Error && f.Severity != finding.Warning:
		return
	}
	if *into == "" {
		*into = fmt.Sprintf("%s [%s, %s]", f.Summary, f.Key(), f.State)
	}
}

// unseen names what is not known of a node: all of it, or the tables that were read in part.
func unseen(v *model.View, node string, ts ...model.Table) string {
	var names []string
	for _, t := range ts {
		if !v.Sees(node, t) {
			names = append(names, t.String())
		}
	}
	if len(names) == len(ts) {
		return "node state"
	}
	return strings.Join(names, ", ")
}

// between is the way from the node of one pod to the other.
func between(a, b *end) []hop {
	if a.node == b.node {
		return nil
	}
	way := detect.WayTo(a.r.View, a.node, b.ip, b.node)
	return []hop{{At: a.node + " to " + b.node, Says: plain.Dash(way.Says), Broken: way.Broken, Unread: way.Unread}}
}

// back is the rest of the way there, and the way of the answers.
func (e *end) back(from *end) []hop {
	own := e.hops()
	slices.Reverse(own)
	if from.node == e.node {
		own = own[1:]
	}
	return append(own, between(e, from)...)
}

// wayVerdict names the first break, or what may be one. A way of which a step was not checked is never called whole.
func wayVerdict(hops []hop) string {
	unread, none, warned, maybe := 0, "no break found", "", ""
	for _, h := range hops {
		if h.Broken != "" {
			return "breaks at " + h.At + ": " + h.Broken
		}
		if h.Unread != "" {
			unread++
		}
		if h.Maybe != "" && maybe == "" {
			maybe = "may break at " + h.At + ": " + h.Maybe
		}
		if h.Warning != "" && warned == "" {
			none, warned = "no certain break found", "; warning at "+h.At+": "+h.Warning
		}
	}
	if maybe != "" {
		return maybe
	}
	if unread > 0 {
		return fmt.Sprintf("%s in what was checked; %d of %d steps were not, or not completely%s", none, unread, len(hops), warned)
	}
	return none + warned
}

func toText(ctx context.Context, sess *term.Session, from, to *end, hops []hop) {
	cols := sess.Width()
	rows := [][]string{{"", "AT", "STATE"}}
	for i, h := range hops {
		state := h.Says
		if h.Unread != "" {
			state += " (not checked: " + h.Unread + ")"
		}
		if h.Warning != "" {
			state += "; warning: " + h.Warning
		}
		if h.Maybe != "" {
			state += "; may be broken: " + h.Maybe
		}
		if h.Broken != "" {
			state = "BROKEN: " + h.Broken
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), h.At, plain.ShortIDs(state)})
	}
	sess.PrintLines(cols, fmt.Sprintf("%s (%s) to %s (%s): %s", from.ref.Name, from.ip, to.ref.Name, to.ip, wayVerdict(hops)))
	sess.PrintTable(cols, rows)
	for _, e := range []*end{from, to} {
		sess.PrintLines(cols, "Policies for "+e.ref.Name+": "+policyLine(ctx, e.u, e.pod.Namespace, e.pod.Name))
	}
}
