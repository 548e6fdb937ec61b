package cluster

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/observe"
)

// direct reaches agents at the addresses of their nodes. It outlives fleets, which are found again and
// again: its connections stay.
type direct struct {
	*agent.Direct
	namespace string
	failed    sync.Map                                  // node → observe.Uptime of the last failure
	addresses atomic.Pointer[map[string]netip.AddrPort] // of the fleet that was found last
}

// connect has the agents of a fleet asked directly, and through the API server where that does not work.
func (f *fleet) connect(c *Cluster, readers *agentTokens) {
	if c.direct == nil || c.direct.namespace != f.namespace {
		d := &direct{namespace: f.namespace}
		d.Direct = (&agent.Direct{
			Identities: f.ids,
			Address:    func(node string) netip.AddrPort { return (*d.addresses.Load())[node] },
			Headers: func(ctx context.Context, node, path string, query url.Values) (http.Header, error) {
				return readers.headers(ctx, node, http.MethodGet, path, query, nil)
			},
		}).Connect()
		c.direct = d
	}
	addresses := make(map[string]netip.AddrPort, len(f.pods))
	for node, p := range f.pods {
		if p.IP.IsValid() {
			port := p.Port
			if port == 0 {
				port = agent.Port
			}
			addresses[node] = netip.AddrPortFrom(p.IP, uint16(port))
		}
	}
	c.direct.addresses.Store(&addresses)
	around, d := f.Open, c.direct
	f.slow = &agent.Fleet{Open: around, Nodes: f.Nodes, Now: f.Now, AtOnce: gentleAtOnce}
	f.Open = func(ctx context.Context, node, path string, query url.Values) (io.ReadCloser, error) {
		if at, ok := d.failed.Load(node); ok && observe.Uptime()-at.(time.Duration) < failedFor {
			return around(ctx, node, path, query)
		}
		body, err := d.Get(ctx, node, path, query)
		if errors.Is(err, agent.ErrNotDirect) {
			d.failed.Store(node, observe.Uptime())
			return around(ctx, node, path, query)
		}
		return body, err
	}
}

// failedFor is how long an agent that was not reached directly is asked through the API server at once.
const failedFor = time.Minute

// streams watch the agents of a fleet. Where that does not work they are asked through the API server.
func (c *Cluster) streams() *agent.Streams {
	s := agent.NewStreams()
	s.Open = func(ctx context.Context, node string, query url.Values) (io.ReadCloser, error) {
		return c.direct.Get(ctx, node, agent.PathWatch, query)
	}
	return s
}
