package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/scrub"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

const (
	askLogs      = 16 // nodes at once
	askAllWithin = time.Minute
)

var errNoAgents = errors.New("no agents run in this cluster, so that nobody can be asked for logs: say with --logs where they are")

// agentLogs asks the agents of the nodes concerned for the lines about one thing. What was
// not to be had is said.
func (g *global) agentLogs(ctx context.Context, q question) (*timeline.Log, []string, error) {
	u, err := g.scoped(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer u.c.close()
	if u.c.fleet == nil {
		return nil, nil, errNoAgents
	}
	return g.askForLogs(ctx, u.c, q, u.concerned(ctx, q))
}

// concerned are the nodes on which something was, or is, of what is asked for: those that
// any book names with it. If none does, all are asked.
func (u *scoped) concerned(ctx context.Context, q question) []string {
	names := map[string]bool{}
	if ns, pod, ok := cutPod(q.pod); ok {
		u.add(ctx, model.Ref{Kind: model.KindPod, Name: q.pod})
		u.addFacts(ctx, url.Values{"pod": {q.pod}})
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
	for _, n := range u.c.fleet.Nodes {
		if names[n] {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return u.c.fleet.Nodes
	}
	return out
}

// logs is the question as agents are asked.
func (q question) logs() agent.LogQuestion {
	lq := agent.LogQuestion{Since: q.since, Until: q.until}
	if ns, pod, ok := cutPod(q.pod); ok {
		lq.Namespace, lq.Pod = ns, pod
	}
	if q.ip.IsValid() {
		lq.Addresses = []netip.Addr{q.ip}
	}
	if q.sandbox != "" {
		lq.Sandboxes = []string{q.sandbox}
	}
	return lq
}

// An answer is what one node had.
type logAnswer struct {
	texts []agent.LogText
	zone  *time.Location
	said  []string
}

func (g *global) askForLogs(parent context.Context, c *cluster, q question, nodes []string) (*timeline.Log, []string, error) {
	ctx, cancel := context.WithTimeout(parent, askAllWithin)
	defer cancel()
	answers := make([]logAnswer, len(nodes))
	var wg sync.WaitGroup
	free := make(chan struct{}, askLogs)
	for i, node := range nodes {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			answers[i] = c.logsOf(ctx, node, q.logs())
		})
	}
	wg.Wait()
	if err := parent.Err(); err != nil {
		return nil, nil, err
	}
	var in []numbered
	var said []string
	for i, a := range answers {
		for _, s := range a.said {
			said = append(said, nodes[i]+": "+s)
		}
		for j := range a.texts {
			t := &a.texts[j]
			in = append(in, numbered{
				Input:  records.Input{Name: nodes[i] + ":" + t.Name, Node: nodes[i], ModTime: t.Modified, Zone: a.zone, Open: t.Open},
				number: t.Number,
			})
		}
	}
	log, err := g.tellLogs(parent, in, q.within)
	return log, said, err
}

// logsOf asks one node: its agent, and for what is in journald its kubelet.
func (c *cluster) logsOf(ctx context.Context, node string, q agent.LogQuestion) logAnswer {
	l, err := c.fleet.Logs(ctx, node, q)
	if err != nil {
		return logAnswer{said: []string{err.Error()}}
	}
	a := logAnswer{texts: l.Texts, zone: l.ZoneOf(), said: l.Missing}
	more := q.With(l.Learned)
	for _, service := range l.Absent {
		if !slices.Contains([]string{"kubelet", "containerd"}, service) {
			a.said = append(a.said, "no log of "+service+" is there")
			continue
		}
		since := q.Since
		if a.zone != nil && !since.IsZero() {
			since = since.In(a.zone)
		}
		text, cut, err := c.client.NodeLog(ctx, kube.NodeLogQuery{Node: node, Service: service, Since: since, Needles: more.Needles()})
		if err != nil {
			a.said = append(a.said, fmt.Sprintf("no file of %s is there, and its journal cannot be asked: %v", service, err))
			continue
		}
		if cut {
			a.said = append(a.said, "of "+service+"'s journal there is more than is handed out")
		}
		a.texts = append(a.texts, more.PickJournal("journal/"+service, service, l.Taken, text, scrub.Bytes))
	}
	return a
}
