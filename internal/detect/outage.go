package detect

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A fall is when and how a node failed.
type fall struct {
	at    model.Time // not zero
	how   string
	byAPI bool     // at comes from the node's Ready condition, not from its agent
	pods  []string // UIDs of pods that use a mount that does not answer; if not empty, only these can be the cause
}

// incubation is how long after its start a pod can be the cause of a node failure.
const incubation = 30 * time.Minute

// fallOf reports whether a node has failed: it is not ready, or its runtime or a mount that
// pods use does not answer. A failure without a known time does not count: it has no place
// in an order.
func fallOf(p *Pass, n *model.Node) (fall, bool) {
	var f fall
	earlier := func(at model.Time, how string) {
		if !at.IsZero() && (f.at.IsZero() || at < f.at) {
			f.at, f.how = at, how
		}
	}
	if facts := p.Snapshot().NodeState[n.Name]; facts != nil {
		for i := range facts.Mounts { // those that matter on one node: a few
			if m := &facts.Mounts[i]; m.Silent && len(m.Pods) > 0 {
				earlier(m.Since, "mount "+mounted(m)+" does not answer")
				f.pods = append(f.pods, m.Pods...)
			}
		}
	}
	for r := range p.RuntimesOn(n.Name) {
		if r.Error != "" {
			earlier(r.Since, "runtime does not answer")
		}
	}
	if !n.Ready && !n.Changed.IsZero() {
		f.at, f.how, f.byAPI = n.Changed, "not ready", true
	}
	return f, !f.at.IsZero()
}

// landed is when a pod started on its node. The kubelet reports this by its own clock, which
// can be behind, and a kubelet that fails at once never reports it: then the creation time counts.
func landed(pod *model.Pod) model.Time { return max(pod.Started, pod.Created) }

// after reports whether the node failed within incubation after the pod started there.
func (f fall) after(pod *model.Pod) bool {
	at := landed(pod)
	if at.IsZero() || at > f.at || f.at.Sub(at) > incubation {
		return false
	}
	return len(f.pods) == 0 || slices.ContainsFunc(identities(pod), func(uid string) bool { return slices.Contains(f.pods, uid) })
}

// An outage is the set of nodes that have failed.
type outage struct {
	falls map[string]fall // by node
	nodes int             // number of nodes in the cluster; >= len(falls)
	now   model.Time
}

// maxFallen limits the search, which is quadratic in the failed nodes. If more nodes are
// down, the common cause is not a workload.
const maxFallen = 256

func outageOf(p *Pass) (outage, bool) {
	s := p.Snapshot()
	o := outage{falls: map[string]fall{}, nodes: len(s.Nodes), now: p.Now}
	for i := range s.Nodes {
		if f, failed := fallOf(p, &s.Nodes[i]); failed {
			o.falls[s.Nodes[i].Name] = f
		}
		if len(o.falls) > maxFallen {
			return o, false
		}
	}
	return o, true
}

// A landing is the first start of a pod with a candidate on a node.
type landing struct {
	node string
	at   model.Time
	pod  *model.Pod
}

// A candidate is a volume or an image that may be the cause, and the nodes that have it.
// Invariant: len(fallen) <= failed <= holders.
type candidate struct {
	what    string
	fallen  []landing // on nodes that failed within incubation, ordered by start
	healthy []landing // on nodes that have not failed, ordered by start
	holders int       // number of nodes that have it
	failed  int       // number of those that have failed, at any time
}

// weigh collects the nodes that have a volume or an image. It stops early, with fallen and
// healthy empty, if more healthy nodes have it than nodes have failed.
func (o outage) weigh(p *Pass, what string) candidate {
	s := candidate{what: what}
	first := map[string]landing{}
	healthy := 0
	for pod := range p.PodsUsing(what) {
		if pod.Node == "" || landed(pod).IsZero() {
			continue
		}
		f, failed := o.falls[pod.Node]
		l, known := first[pod.Node]
		if !known {
			l.node = pod.Node
			s.holders++
			if failed {
				s.failed++
			} else if healthy++; healthy > len(o.falls) {
				return s
			}
		}
		if blamed := !failed || f.after(pod); blamed && (l.pod == nil || landed(pod) < l.at) {
			l.at, l.pod = landed(pod), pod
		}
		first[pod.Node] = l
	}
	for _, l := range first {
		if _, failed := o.falls[l.node]; !failed {
			s.healthy = append(s.healthy, l)
		} else if l.pod != nil {
			s.fallen = append(s.fallen, l)
		}
	}
	byTime := func(a, b landing) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) }
	slices.SortFunc(s.fallen, byTime)
	slices.SortFunc(s.healthy, byTime)
	return s
}

// slack is the precision of failure times: a node becomes not ready some time after it failed.
const slack = time.Minute

// guilty reports whether the candidate is the likely cause: at least two nodes failed after
// it started there, one after the other, in the order in which it started; they are at least
// half of the nodes that have it; few nodes have run it for longer than those that failed;
// and nodes without it fail less often.
func (s *candidate) guilty(o outage) bool {
	if len(s.fallen) < 2 || 2*len(s.fallen) < s.holders {
		return false
	}
	first, last := o.falls[s.fallen[0].node].at, model.Time(0)
	var took time.Duration
	for _, l := range s.fallen {
		at := o.falls[l.node].at
		if at.Add(slack) < last {
			return false
		}
		first, last, took = min(first, at), max(last, at), max(took, at.Sub(l.at))
	}
	if last.Sub(first) < slack {
		return false // all at the same time: power or a switch
	}
	if s.everywhere() {
		return false
	}
	stood := 0
	for _, l := range s.healthy {
		if o.now.Sub(l.at) > took {
			stood++
		}
	}
	without, fellWithout := o.nodes-s.holders, len(o.falls)-s.failed
	if without == 0 { // every node has it: nothing to compare with
		return stood == 0
	}
	return 2*stood <= len(s.fallen) && len(s.fallen)*without > fellWithout*s.holders
}

// everywhere reports whether a DaemonSet started it on all of them at the same time: then it
// did not move from node to node.
func (s *candidate) everywhere() bool {
	if s.fallen[len(s.fallen)-1].at.Sub(s.fallen[0].at) >= slack {
		return false
	}
	return !slices.ContainsFunc(s.fallen, func(l landing) bool { return !strings.HasPrefix(l.pod.Owner, "DaemonSet/") })
}
