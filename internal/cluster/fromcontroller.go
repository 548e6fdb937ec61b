package cluster

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
)

// FromController asks the controller for its last judgement.
func FromController(ctx context.Context, o Options) (*Told, error) {
	return ask(ctx, o, question{read: ReadRows})
}

// maxHead bounds what is not findings: names of namespaces and nodes, and what was not read.
const maxHead = 64 << 20

// HeadFromController asks for all of it but the findings.
func HeadFromController(ctx context.Context, o Options) (*Told, error) {
	return ask(ctx, o, question{url.Values{agent.HeadOnly: {"1"}}, func(from io.Reader) (*Told, error) {
		t, _, err := readHead(json.NewDecoder(io.LimitReader(from, maxHead)))
		return t, err
	}})
}

// ErrNoController says that none runs.
var ErrNoController = errors.New("no controller runs")

// A question to the controller, and how its answer is read.
type question struct {
	query url.Values
	read  func(io.Reader) (*Told, error)
}

// ask looks for the controller's pods where agents are, and where there are none in the usual namespace: others may give
// any pod its labels.
func ask(ctx context.Context, o Options, q question) (*Told, error) {
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	in := kube.AgentNamespace
	agents, err := c.client.Agents(ctx, "")
	if err != nil {
		return nil, err
	}
	if len(agents) > 0 {
		in = agents[0].Namespace
	}
	pods, err := c.client.Controllers(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(pods) == 0 {
		return nil, fmt.Errorf("%w in namespace %s: install it (docs/controller.md), or check without --from-controller", ErrNoController, in)
	}
	tokens := newAgentTokens(c.client, in, readerAccount)
	for try := 1; ; try++ {
		told, err := c.askOneOf(ctx, tokens, pods, q)
		var busy interface{ RetryAfter() time.Duration }
		if err == nil || try == 5 || !errors.As(err, &busy) || busy.RetryAfter() <= 0 {
			return told, err
		}
		if err := Wait(ctx, min(busy.RetryAfter(), 5*time.Second)); err != nil {
			return nil, err
		}
	}
}

// askOneOf asks the pods of the controller one after the other: one of them leads.
func (c *Cluster) askOneOf(ctx context.Context, tokens *agentTokens, pods []kube.AgentPod, q question) (*Told, error) {
	var errs []error
	for _, p := range pods {
		told, err := c.askController(ctx, tokens, p, q)
		if err == nil {
			return told, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// silentFor is how long a controller may send nothing, where no other limit is set.
const silentFor = 30 * time.Second

// A watched reader tells that it read something.
type watched struct {
	io.Reader
	read func()
}

func (w watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.read()
	}
	return n, err
}

// fromLeader is what an answer of the controller must be signed for: with the key in the Lease that only controllers may write.
// An answer of anybody else, such as of another pod with its address, is refused.
func (c *Cluster) fromLeader(ctx context.Context, namespace, path string, query url.Values, head http.Header) agent.Expected {
	return agent.Expected{Of: agent.Controller, Path: path, Query: query, Header: head, Key: func(bool) (ed25519.PublicKey, error) {
		annotations, err := c.client.Lease(ctx, namespace, agent.ControllerLease)
		if err != nil {
			return nil, fmt.Errorf("read the key that the controller signs with: %w", err)
		}
		key, err := agent.ReadKey(annotations)
		if err != nil {
			err = fmt.Errorf("lease %s/%s: %w: the controller is older than this plumbline, or does not lead", namespace, agent.ControllerLease, err)
		}
		return key, err
	}}
}

func (c *Cluster) askController(ctx context.Context, tokens *agentTokens, p kube.AgentPod, q question) (*Told, error) {
	head, err := tokens.headers(ctx, agent.Controller, http.MethodGet, agent.PathFindings, q.query, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := cmp.Or(c.o.Kube.Timeout, silentFor)
	alive := time.AfterFunc(limit, func() { cancel(fmt.Errorf("%s/%s sent nothing for %s", p.Namespace, p.Name, limit)) })
	defer alive.Stop()
	body, err := c.client.Controller(ctx, p, agent.PathFindings, q.query, head)
	if err != nil {
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	body = agent.Verified(body, c.fromLeader(ctx, p.Namespace, agent.PathFindings, q.query, head))
	told, err := q.read(watched{body, func() { alive.Reset(limit) }})
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, fmt.Errorf("findings of %s/%s: %w", p.Namespace, p.Name, cmp.Or(context.Cause(ctx), err))
	}
	told.By = p.Namespace + "/" + p.Name
	return told, nil
}
