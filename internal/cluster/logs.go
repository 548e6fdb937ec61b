package cluster

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/scrub"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
	"plumbline.dev/plumbline/internal/timeline/pick"
	"plumbline.dev/plumbline/internal/timeline/records"
)

const (
	askLogs      = 16 // nodes at once
	askAllWithin = time.Minute
)

// A LogQuestion is whose log lines are asked for, and of which time.
type LogQuestion struct {
	Pod          string // NAMESPACE/NAME
	IP           netip.Addr
	Sandbox      string
	Since, Until time.Time
	Zone         *time.Location // of timestamps whose zone nothing shows; nil if not told
}

// widestZone is more than any zone is away from UTC.
const widestZone = 15 * time.Hour

// Within tells whether an event may be of the time asked for: one without time may, and one whose
// zone is not shown by its own line, as long as any zone makes it so.
func (q LogQuestion) Within(e *timeline.Event) bool {
	var may time.Duration
	if e.Zone > timeline.ZoneFollowed {
		may = widestZone
	}
	return e.At.IsZero() || (q.Since.IsZero() || !e.At.Add(may).Before(q.Since)) && (q.Until.IsZero() || !e.At.Add(-may).After(q.Until))
}

// Logs asks the agents of the nodes concerned for the log lines about one pod, address or
// sandbox. What could not be read is told, by node.
func Logs(ctx context.Context, o Options, q LogQuestion) (log *timeline.Log, unread []string, err error) {
	u, err := OpenScoped(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	defer u.Close()
	if u.fleet == nil {
		return nil, nil, fmt.Errorf("%w: pass --logs with the files to read", ErrNoAgents)
	}
	return u.askForLogs(ctx, q, u.concerned(ctx, q))
}

// concerned are the nodes that any source names with what is asked for. If none does, all
// are asked.
func (u *Scoped) concerned(ctx context.Context, q LogQuestion) []string {
	names := map[string]bool{}
	if ns, pod, ok := strings.Cut(q.Pod, "/"); ok {
		u.add(ctx, model.Ref{Kind: model.KindPod, Name: q.Pod})
		u.addNodes(ctx, url.Values{"pod": {q.Pod}})
		v := model.Seal(u.s)
		if p := v.PodByName(ns, pod); p != nil {
			names[p.Node] = true
		}
		for e := range v.EndpointsOf(ns, pod) {
			names[e.Node] = true
		}
		for s := range v.SandboxesOf(ns, pod) {
			names[s.Node] = true
		}
	}
	var out []string
	for _, n := range u.fleet.Nodes {
		if names[n] {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return u.fleet.Nodes
	}
	return out
}

// agents is the question as agents are asked.
func (q LogQuestion) agents() pick.Question {
	lq := pick.Question{Since: q.Since, Until: q.Until}
	if ns, pod, ok := strings.Cut(q.Pod, "/"); ok {
		lq.Namespace, lq.Pod = ns, pod
	}
	if q.IP.IsValid() {
		lq.Addresses = []netip.Addr{q.IP}
	}
	if q.Sandbox != "" {
		lq.Sandboxes = []string{q.Sandbox}
	}
	return lq
}

// A logAnswer is what one node had.
type logAnswer struct {
	texts  []agent.LogText
	zone   *time.Location
	ahead  time.Duration // of its clock
	unread []string
}

func (c *Cluster) askForLogs(ctx context.Context, q LogQuestion, nodes []string) (*timeline.Log, []string, error) {
	answers := c.answers(ctx, q, nodes)
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	var in []parse.Input
	var unread []string
	for i, a := range answers {
		for _, s := range a.unread {
			unread = append(unread, nodes[i]+": "+s)
		}
		for j := range a.texts {
			t := &a.texts[j]
			in = append(in, parse.Input{
				Input:  records.Input{Name: nodes[i] + ":" + t.Name, Node: nodes[i], ModTime: t.Modified, Zone: a.zone, Ahead: a.ahead, Open: t.Open},
				Number: t.Number,
			})
		}
	}
	log, err := parse.Read(ctx, in, q.Within, q.Zone)
	return log, unread, err
}

// answers asks nodes for lines, some at a time.
func (c *Cluster) answers(ctx context.Context, q LogQuestion, nodes []string) []logAnswer {
	ctx, cancel := context.WithTimeout(ctx, askAllWithin)
	defer cancel()
	answers := make([]logAnswer, len(nodes))
	var wg sync.WaitGroup
	free := make(chan struct{}, askLogs)
	for i, node := range nodes {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			answers[i] = c.logsOf(ctx, node, q.agents())
		})
	}
	wg.Wait()
	return answers
}

// logsOf asks one node: its agent, and its kubelet for what is in journald.
func (c *Cluster) logsOf(ctx context.Context, node string, q pick.Question) logAnswer {
	asked := c.fleet.Now()
	l, err := c.fleet.Logs(ctx, node, q)
	if err != nil {
		return logAnswer{unread: []string{err.Error()}}
	}
	a := logAnswer{texts: l.Texts, zone: l.ZoneOf(), ahead: agent.Ahead(l.Taken, asked, c.fleet.Now()), unread: l.Missing}
	more := q.With(l.Learned)
	for _, service := range l.Absent {
		if !slices.Contains([]string{"kubelet", "containerd"}, service) {
			a.unread = append(a.unread, "no log of "+service+" was found")
			continue
		}
		since := q.Since
		if a.zone != nil && !since.IsZero() {
			since = since.In(a.zone)
		}
		text, cut, err := c.client.NodeLog(ctx, kube.NodeLogQuery{Node: node, Service: service, Since: since, Needles: more.Needles()})
		if err != nil {
			a.unread = append(a.unread, fmt.Sprintf("no log file of %s was found, and the kubelet's log query failed: %v", service, err))
			continue
		}
		if cut {
			a.unread = append(a.unread, "the journal of "+service+" has more lines than the kubelet gave")
		}
		a.texts = append(a.texts, agent.PickJournal(more, "journal/"+service, service, l.Taken, text, func(dst, b []byte) []byte { return scrub.Outgoing(dst, b) }))
	}
	return a
}
