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
	at    model.Time
	how   string
	byAPI bool     // the API server's own times prove it
	pods  []string // UIDs of those that use a mount that is silent; if there are any, no other is unconfirmed
}

// incubation is how long after a pod has landed on a node it can be blamed.
const incubation = 30 * time.Minute

// fallOf tells that a node has failed: it is not ready, its runtime is silent, or a mount
// that pods use is. One whose time is not known tells nothing of an order.
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
				earlier(m.Since, "mount "+mounted(m)+" silent")
				f.pods = append(f.pods, m.Pods...)
			}
		}
	}
	for r := range p.RuntimesOn(n.Name) {
		if r.Error != "" {
			earlier(r.Since, "runtime silent")
		}
	}
	if !n.Ready && !n.Changed.IsZero() {
		f.at, f.how, f.byAPI = n.Changed, "not ready", true
	}
	return f, !f.at.IsZero()
}

// landed is when a pod came to its node. The kubelet's word for it is by its own clock,
// which can be behind, and a kubelet that falls at once has never said it: then the pod
// came after it was made.
func landed(pod *model.Pod) model.Time { return max(pod.Started, pod.Created) }

// after tells that the node fell after the pod had landed, and soon.
func (f fall) after(pod *model.Pod) bool {
	at := landed(pod)
	if at.IsZero() || at > f.at || f.at.Sub(at) > incubation {
		return false
	}
	return len(f.pods) == 0 || slices.ContainsFunc(identities(pod), func(uid string) bool { return slices.Contains(f.pods, uid) })
}

// An outage is all nodes that have failed.
type outage struct {
	falls map[string]fall
	nodes int // in all
	now   model.Time
}

// maxFallen bounds the search: every node that fell asks about all. When more are down,
// what they have in common is more than a workload.
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

// A landing is the first that a unconfirmed came to a node.
type landing struct {
	node string
	at   model.Time
	pod  *model.Pod
}

// A unconfirmed is a volume or an image, and the nodes that have it.
type unconfirmed struct {
	what    string
	fallen  []landing // on nodes that failed soon after, in the order of landing
	healthy []landing // on nodes that have not failed
	holders int       // all nodes that have it
	failed  int       // those that have failed, whenever
}

// weigh looks at all nodes that have a volume or an image. It gives up on what more
// healthy nodes have than there are failed ones.
func (o outage) weigh(p *Pass, what string) unconfirmed {
	s := unconfirmed{what: what}
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

// slack is how exact the order of failures is: a node is said to be not ready some time
// after it went.
const slack = time.Minute

// guilty: at least two nodes failed after it came, one after the other, in the order in
// which it came; at least half of those that have it; few have stood it for longer than
// those that failed; and nodes without it do not fail as often.
func (s *unconfirmed) guilty(o outage) bool {
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
		return false // all at once: power, a switch
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
	if without == 0 { // there is nothing to compare with
		return stood == 0
	}
	return 2*stood <= len(s.fallen) && len(s.fallen)*without > fellWithout*s.holders
}

// everywhere tells that it came to all of them at once, as what every node has does: it
// did not go from one to the next.
func (s *unconfirmed) everywhere() bool {
	if s.fallen[len(s.fallen)-1].at.Sub(s.fallen[0].at) >= slack {
		return false
	}
	return !slices.ContainsFunc(s.fallen, func(l landing) bool { return !strings.HasPrefix(l.pod.Owner, "DaemonSet/") })
}
