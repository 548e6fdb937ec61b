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

// Harm measures whether a repair harms who has nothing to do with it. On every node a
// pod asks every healthy pod, ten times a second over a new connection and ten times
// over one that stays open; and what the three books say of each healthy pod must be
// the same afterwards.
type Harm struct {
	s      *Stage
	askers []string
	own    map[string]bool     // addresses of the pods that are there for the purpose
	pairs  map[string][]string // by asker: whom it asks
	also   map[string][]string // by asker: who is asked although a finding is about it
	before map[string]string   // by pod: what the books say of it
}

// harmNamespace has the pods that ask and are asked.
const harmNamespace = "bystanders"

// NewHarm puts two pods onto every node: one that asks and one that is asked. It is done
// before anything is broken, so that they are healthy by all accounts.
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
			// They stay whatever becomes of their node's kubelet for a while.
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

// Also has an address asked from its own node, although a finding is about it: of those who
// share it, the one that answers there is to keep it.
func (h *Harm) Also(node, ip string) {
	if h.also == nil {
		h.also = map[string][]string{}
	}
	h.also["asker-"+node] = append(h.also["asker-"+node], URL(ip))
}

// Start begins to ask every healthy pod: those that are Ready and that no finding is
// about. A pod of the incident that does not answer from the start is not healthy.
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
	h.s.Say("harm: %d healthy pods, %d pairs asked 20 times a second", len(pods), n)
	return nil
}

// warmUp leaves the pairs that answer; those of our own pods must.
func (h *Harm) warmUp(ctx context.Context, urls []string) error {
	return lab.Eventually(ctx, time.Minute, func(ctx context.Context) error {
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
				case t.Lost == 0 && t.Asked > 0:
					h.pairs[a] = append(h.pairs[a], t.URL)
				case h.own[address(t.URL)]:
					bad = errors.Join(bad, fmt.Errorf("%s does not reach %s to begin with: %s", a, t.URL, t.First))
				default:
					h.s.Say("harm: %s (%s) does not answer %s before the repair: not counted", t.URL, t.Host, a)
				}
			}
		}
		return bad
	})
}

// A Toll is what was asked while a repair ran, and what of it was lost.
type Toll struct {
	Asked, Lost, Late, Resent int
	Slowest                   int      // ms
	Losses                    []string // one line for each pair that lost anything
}

func (t Toll) String() string {
	return fmt.Sprintf("%d asked, %d lost, %d late, slowest %d ms, %d segments sent again", t.Asked, t.Lost, t.Late, t.Slowest, t.Resent)
}

// Stop ends the asking. It is an error if anything was lost, or if a book says
// something else of a healthy pod than before.
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
			sum.Late += t.Late
			sum.Slowest = max(sum.Slowest, t.Slowest)
			if t.Lost > 0 || t.Broken > 0 {
				sum.Losses = append(sum.Losses, fmt.Sprintf("%s to %s (%s): %d of %d lost, connection broken %d times, first at %s", a, t.URL, t.Host, t.Lost, t.Asked, t.Broken, t.First))
			}
		}
	}
	h.s.Say("harm: %s", sum)
	err := Expect(sum.Asked > 0 && sum.Lost == 0 && len(sum.Losses) == 0, "no request lost, got %s:\n%s", sum, strings.Join(sum.Losses, "\n"))
	return sum, errors.Join(err, h.same(ctx))
}
