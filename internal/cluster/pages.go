package cluster

import (
	"bytes"
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
	"plumbline.dev/plumbline/internal/plain"
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
	if status != http.StatusOK {
		err = fmt.Errorf("the controller answers %d", status)
	}
	return p, errors.Join(err, body.Close())
}

// pathLive is the page that does not end, and says only that something changed. It is not signed.
const pathLive = "live"

// Get asks for one page. The replica that leads has it; of another, the answer is that it does not lead.
func (p *ControllerPages) Get(ctx context.Context, path string, query url.Values) (status int, body io.ReadCloser, err error) {
	pods, err := p.c.client.Controllers(ctx, p.in)
	if err != nil {
		return 0, nil, err
	}
	errs := []error{fmt.Errorf("no controller that serves pages runs in namespace %s: install it with controller.ui.enabled (docs/ui.md), or leave out --from-controller", p.in)}
	for _, pod := range pods {
		status, body, err := p.page(ctx, pod, path, query)
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

// page asks one replica for a page.
func (p *ControllerPages) page(ctx context.Context, pod kube.AgentPod, path string, query url.Values) (status int, body io.ReadCloser, err error) {
	path = agent.PathUI + path
	head, err := p.tokens.headers(ctx, agent.Controller, http.MethodGet, path, query, nil)
	if err != nil {
		return 0, nil, err
	}
	status, body, err = p.c.client.ControllerPage(ctx, pod, path, query, head)
	if err != nil || path == agent.PathUI+pathLive || status == http.StatusServiceUnavailable || status == http.StatusBadGateway {
		return status, body, err
	}
	want := p.c.fromLeader(ctx, p.in, path, query, head)
	want.Status = status
	body, err = signedPage(body, want)
	return status, body, err
}

// signedPage reads a page whole: nothing is shown of one that somebody else sent. A refusal, which is not signed, is an error with
// what it says.
func signedPage(body io.ReadCloser, want agent.Expected) (io.ReadCloser, error) {
	var text bytes.Buffer
	signed := agent.Verified(struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, &text), body}, want)
	page, err := io.ReadAll(signed)
	switch err = errors.Join(err, signed.Close()); {
	case errors.Is(err, agent.ErrUnsignedAnswer) && want.Status != http.StatusOK:
		return nil, fmt.Errorf("the controller answers %d: %.300s", want.Status, plain.Line(strings.TrimSpace(text.String())))
	case err != nil:
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(page)), nil
}
