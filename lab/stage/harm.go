package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// Harm measures whether a repair harms unrelated pods. On every node a pod sends
// requests to every healthy pod, ten per second over new connections and ten over one
// that stays open; and Kubernetes, the Calico datastore and the node must have the same
// state for each healthy pod afterwards.
type Harm struct {
	s      *Stage
	askers []string
	own    map[string]bool     // addresses of the pods that exist for this purpose
	pairs  map[string][]string // by asker: its targets
	also   map[string][]string // by asker: targets although a finding is about them
	before map[string]string   // by pod: its state in all sources
}

// harmNamespace has the pods that send and answer the requests.
const harmNamespace = "bystanders"

// NewHarm creates two pods on every node: one that sends requests and one that answers.
// They are created before any fault, so that they are healthy in all sources.
func NewHarm(ctx context.Context, l *lab.Lab, tell func(string)) (*Harm, error) {
	h := &Harm{s: &Stage{Lab: l, Namespace: harmNamespace, Tell: tell}, own: map[string]bool{}}
	if err := h.s.createNamespace(ctx); err != nil {
		return nil, err
	}
	nodes, err := l.RunningNodes(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, n := range nodes {
		for kind, mode := range map[string]string{"asker-": "ask", "asked-": "serve"} {
			name := kind + n.Name
			all = append(all, name)
			// They stay if the kubelet of their node is down for a while.
			pod := h.s.Manifest(PodSpec{Name: name, Node: n.Name, Args: []string{mode}}) + "  tolerations: [{operator: Exists}]\n"
			if err := l.Apply(ctx, pod); err != nil {
				return nil, err
			}
		}
		h.askers = append(h.askers, "asker-"+n.Name)
	}
	for _, name := range all {
		p, err := h.s.WaitReady(ctx, name, "")
		if err != nil {
			return nil, err
		}
		h.own[p.Status.PodIP] = true
	}
	return h, nil
}

// Also adds requests to an address from its own node, although a finding is about it: of
// the pods with a duplicate address, the one that answers there must keep it.
func (h *Harm) Also(node, ip string) {
	if h.also == nil {
		h.also = map[string][]string{}
	}
	h.also["asker-"+node] = append(h.also["asker-"+node], URL(ip))
}

// Start begins to send requests to every healthy pod: Ready, and without a finding about
// it. A pod of the incident that does not answer from the start is not healthy.
func (h *Harm) Start(ctx context.Context, findings []string) error {
	pods, err := h.healthy(ctx, findings)
	if err != nil {
		return err
	}
	var urls []string
	for _, p := range pods {
		if p.serves() {
			urls = append(urls, URL(p.Status.PodIP))
		}
	}
	slices.Sort(urls)
	if err := h.warmUp(ctx, urls); err != nil {
		return err
	}
	if h.before, err = h.project(ctx, pods); err != nil {
		return err
	}
	for _, a := range h.askers {
		h.pairs[a] = append(h.pairs[a], h.also[a]...)
		if err := h.begin(ctx, a, h.pairs[a]); err != nil {
			return err
		}
	}
	n := 0
	for _, to := range h.pairs {
		n += len(to)
	}
	h.s.Say("harm: %d healthy pods, %d pairs with %.1f requests per second", len(pods), n, 20/float64(h.s.pause()))
	return nil
}

// warmUp keeps the pairs that answer; the pairs of our own pods must answer.
func (h *Harm) warmUp(ctx context.Context, urls []string) error {
	return lab.Eventually(ctx, 3*time.Minute, func(ctx context.Context) error {
		h.pairs = map[string][]string{}
		for _, a := range h.askers {
			if err := h.begin(ctx, a, urls); err != nil {
				return err
			}
		}
		time.Sleep(time.Second)
		var bad error
		for _, a := range h.askers {
			got, err := h.end(ctx, a)
			if err != nil {
				return err
			}
			for _, t := range got.Targets {
				switch {
				case t.Lost+t.Stalled == 0 && t.Asked > 0:
					h.pairs[a] = append(h.pairs[a], t.URL)
				case h.own[address(t.URL)]:
					bad = errors.Join(bad, fmt.Errorf("%s does not reach %s before the repair: %s", a, t.URL, t.First))
				default:
					h.s.Say("harm: %s (%s) does not answer %s before the repair: not counted", t.URL, t.Host, a)
				}
			}
		}
		return bad
	})
}

// A Toll counts the requests while a repair ran, and the lost ones.
type Toll struct {
	Asked, Lost, Late, Resent int
	Stalled                   int      // lost while the machine stood still: not judged
	Slowest                   int      // ms
	Losses                    []string // one line for each pair that lost a request
}

func (t Toll) String() string {
	s := fmt.Sprintf("%d requests, %d lost, %d late, slowest %d ms, %d segments retransmitted", t.Asked, t.Lost, t.Late, t.Slowest, t.Resent)
	if t.Stalled > 0 {
		s += fmt.Sprintf("; %d not judged: the machine stood still", t.Stalled)
	}
	return s
}

// Stop ends the requests. It is an error if a request was lost, or if the state of a
// healthy pod in any source differs from before.
func (h *Harm) Stop(ctx context.Context) (Toll, error) {
	var sum Toll
	for _, a := range h.askers {
		got, err := h.end(ctx, a)
		if err != nil {
			return sum, err
		}
		sum.Resent += got.Resent
		for _, t := range got.Targets {
			sum.Asked += t.Asked
			sum.Lost += t.Lost
			sum.Stalled += t.Stalled
			sum.Late += t.Late
			sum.Slowest = max(sum.Slowest, t.Slowest)
			if t.Lost > 0 || t.Broken > 0 {
				sum.Losses = append(sum.Losses, fmt.Sprintf("%s to %s (%s): %d of %d lost, connection broken %d times, first at %s", a, t.URL, t.Host, t.Lost, t.Asked, t.Broken, t.First))
			}
		}
	}
	h.s.Say("harm: %s", sum)
	err := Expect(sum.Asked > 0 && sum.Lost == 0 && len(sum.Losses) == 0, "no request lost, got %s:\n%s", sum, strings.Join(sum.Losses, "\n"))
	// On a machine that is mostly overloaded nothing would be judged.
	err = errors.Join(err, Expect(sum.Stalled*20 <= sum.Asked, "at least 19 of 20 requests judged, got %s", sum))
	return sum, errors.Join(err, h.same(ctx))
}
