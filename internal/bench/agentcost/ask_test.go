//go:build e2e

package agentcost

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
	"plumbline.dev/plumbline/lab"
)

// An asker sends requests directly to the agent, without the API server's proxy.
type asker struct {
	client *http.Client
	base   string
	caller *agent.Caller
	token  string
}

const maxAnswer = 64 << 20

func newAsker(t *testing.T, n *lab.Node, caller *agent.Caller, token string) *asker {
	// The agent's certificate is self-signed; the API server's proxy accepts it as well.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(client.CloseIdleConnections)
	return &asker{client: client, base: fmt.Sprintf("https://%s:%d/", n.Addr(), agent.Port), caller: caller, token: token}
}

func (a *asker) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	q.Header = a.caller.Headers(a.token, "node1", http.MethodGet, path, query, nil)
	resp, err := a.client.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	in := io.Reader(resp.Body)
	if resp.StatusCode == http.StatusOK {
		in = agent.Verified(resp.Body, agent.Expected{}) // without its signature
	}
	b, err := io.ReadAll(io.LimitReader(in, maxAnswer))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", path, resp.Status, b)
	}
	return b, err
}

func (a *asker) digest(ctx context.Context) (agent.Digest, error) {
	var d agent.Digest
	b, err := a.get(ctx, agent.PathDigest, nil)
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	return d, err
}

var errUnseen = errors.New("the agent has not read it")

// facts reads one table.
func (a *asker) facts(ctx context.Context, table model.Table) (*model.NodeState, error) {
	b, err := a.get(ctx, agent.PathTables, url.Values{"table": {table.String()}})
	if err != nil {
		return nil, err
	}
	s, err := snapshotio.ReadBundle(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	for _, c := range s.Coverage {
		if c.Table == table && !c.State.Seen() {
			return nil, fmt.Errorf("%s: %w: %s", c.Table, errUnseen, c.Reason)
		}
	}
	return s.NodeState["node1"], nil
}
