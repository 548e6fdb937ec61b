package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A nodeWriter is the agents where they change something of their node.
type nodeWriter struct {
	fleet *agent.Fleet
}

// nodeWriter has agents change things. The right to do so is asked for when it is needed first:
// most plans need it not.
func (r *Run) nodeWriter() execute.NodeWriter {
	f := &agent.Fleet{Open: r.fleet.Open, Nodes: r.fleet.Nodes, Now: r.fleet.Now, Identities: r.fleet.Identities}
	var repairers *agentTokens
	var once sync.Once
	f.Post = func(ctx context.Context, node, path string, body []byte) (io.ReadCloser, error) {
		p, ok := r.fleet.pods[node]
		if !ok {
			return nil, errNoAgent
		}
		once.Do(func() { repairers = newAgentTokens(r.client, p.Namespace, repairerAccount) })
		head, err := repairers.headers(ctx, node, http.MethodPost, path, nil, body)
		if err != nil {
			return nil, fmt.Errorf("no token to change anything on %s: %w", node, err)
		}
		answer, err := r.writer.ProxyPost(ctx, p, path, head, body)
		if err != nil {
			return nil, err
		}
		return agent.Verified(answer, agent.Expected{Of: node, Path: path, Header: head, Key: agent.KeyOf(ctx, r.ids, node)}), nil
	}
	return nodeWriter{f}
}

// NodeObject reads one thing of a node.
func (h nodeWriter) NodeObject(ctx context.Context, _ string, r model.Ref, args map[string]string) (model.Object, error) {
	t, err := h.fleet.NodeObject(ctx, r, args)
	if err != nil {
		return model.Object{}, err
	}
	return model.Object{Ref: r, Revision: t.Digest, Body: t.Body}, nil
}

// Change has it changed if it still is what was read.
func (h nodeWriter) Change(ctx context.Context, _, verb string, thing model.Object, args map[string]string, dryRun bool) (bool, error) {
	out, err := h.fleet.Change(ctx, agent.Change{Verb: verb, Ref: thing.Ref, Expect: thing.Revision, Args: args, DryRun: dryRun})
	switch {
	case err != nil:
		return false, err
	case out.Refused != "" && out.Digest != "" && out.Digest != thing.Revision:
		return false, fmt.Errorf("%w: %s", execute.ErrStale, out.Refused)
	case out.Refused != "":
		return false, fmt.Errorf("%w: %s", execute.ErrRefused, out.Refused)
	default:
		return out.Already, nil
	}
}

// Routed tells whether the kernel of a node sends packets for an address to a device.
func (h nodeWriter) Routed(ctx context.Context, a change.Await) (bool, error) {
	s := h.fleet.About(ctx, []string{a.Node}, url.Values{"ip": {a.IP.String()}})
	v := model.Seal(s)
	if !v.Sees(a.Node, model.Paths, model.Links) {
		return false, errors.New(a.Node + " does not answer")
	}
	path := v.PathTo(a.Node, a.IP)
	link := v.LinkNamed(a.Node, a.Device)
	return path != nil && link != nil && path.Error == "" && path.Type == "" && !path.Gateway.IsValid() && path.Link == link.Index, nil
}
