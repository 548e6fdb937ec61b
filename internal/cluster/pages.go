package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
)

// ControllerPages asks the controller for the pages of its UI, as the owner of a ServiceAccount.
type ControllerPages struct {
	c      *Cluster
	in     string // namespace of the controller
	tokens *agentTokens
}

// OpenPages finds the controller. The account is NAMESPACE/NAME; empty means that of readers.
func OpenPages(ctx context.Context, o Options, account string) (*ControllerPages, error) {
	o.Kube.Account = account
	c, err := connect(o)
	if err != nil {
		return nil, err
	}
	in := kube.AgentNamespace
	agents, err := c.client.Agents(ctx, "")
	if err == nil && len(agents) > 0 { // who may not list them all looks in the usual namespace
		in = agents[0].Namespace
	}
	ns, name, ok := strings.Cut(cmp.Or(account, in+"/"+readerAccount), "/")
	if !ok {
		return nil, fmt.Errorf("%q: want NAMESPACE/NAME of a ServiceAccount", account)
	}
	p := &ControllerPages{c: c, in: in, tokens: newAgentTokens(c.client, ns, name)}
	status, body, err := p.Get(ctx, "", nil)
	if err != nil {
		return nil, err
	}
	text, _ := io.ReadAll(io.LimitReader(body, 300)) // what an error says
	if status != http.StatusOK {
		err = fmt.Errorf("the controller answers %d: %s", status, strings.TrimSpace(string(text)))
	}
	return p, errors.Join(err, body.Close())
}

// Get asks for one page. The replica that leads has it; of another, the answer is that it does not lead.
func (p *ControllerPages) Get(ctx context.Context, path string, query url.Values) (status int, body io.ReadCloser, err error) {
	pods, err := p.c.client.Controllers(ctx, p.in)
	if err != nil {
		return 0, nil, err
	}
	errs := []error{fmt.Errorf("no controller that serves pages runs in namespace %s: install it with controller.ui.enabled (docs/ui.md), or leave out --from-controller", p.in)}
	for _, pod := range pods {
		head, err := p.tokens.headers(ctx, agent.Controller, http.MethodGet, agent.PathUI+path, query, nil)
		if err != nil {
			return 0, nil, err
		}
		status, body, err := p.c.client.ControllerPage(ctx, pod, agent.PathUI+path, query, head)
		switch {
		case err != nil:
			errs = append(errs, err)
		case status == http.StatusServiceUnavailable || status == http.StatusBadGateway:
			errs = append(errs, fmt.Errorf("%s/%s answers %d", pod.Namespace, pod.Name, status), body.Close())
		default:
			return status, body, nil
		}
	}
	return 0, nil, errors.Join(errs...)
}
