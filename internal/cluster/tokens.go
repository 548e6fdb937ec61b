package cluster

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube"
	"plumbline.dev/plumbline/internal/observe"
)

// tokenFor is how long a token is used: it is good for ten minutes.
const tokenFor = 8 * time.Minute

// A tokenSource has a token that is valid now. A long repair outlives many.
type tokenSource struct {
	request func(ctx context.Context) (text string, at time.Time, err error)

	mu   sync.Mutex
	last token
	next token // requested, and not used yet
}

type token struct {
	text  string
	since time.Duration // observe.Uptime
	at    time.Time     // the API server's time then
}

// get gives a token, and requests a new one when the old nears its end.
func (s *tokenSource) get(ctx context.Context) (token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := observe.Uptime()
	if s.last.text != "" && now-s.last.since < tokenFor {
		return s.last, nil
	}
	text, at, err := s.request(ctx)
	if err != nil {
		return token{}, err
	}
	s.last = token{text, now, at}
	return s.last, nil
}

// Credentials gives the IDs of the token and, in good time, of the next one, which is used when
// named is called.
func (s *tokenSource) Credentials(ctx context.Context) (ids []string, named func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := observe.Uptime(); s.next.text == "" && now-s.last.since > tokenFor/2 {
		if text, at, err := s.request(ctx); err == nil {
			s.next = token{text, now, at}
		}
	}
	for _, t := range []token{s.last, s.next} {
		if id := kube.CredentialID(t.text); id != "" {
			ids = append(ids, id)
		}
	}
	return ids, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.next.text != "" {
			s.last, s.next = s.next, token{}
		}
	}
}

// Token gives the token alone.
func (s *tokenSource) Token(ctx context.Context) (string, error) {
	t, err := s.get(ctx)
	return t.text, err
}

// agentTokens are tokens of one account for agents, with the key that they are bound to.
type agentTokens struct {
	tokenSource
	caller *agent.Caller
}

func newAgentTokens(c *kube.Client, namespace, account string) *agentTokens {
	caller := agent.NewCaller()
	return &agentTokens{caller: caller, tokenSource: tokenSource{request: func(ctx context.Context) (string, time.Time, error) {
		return c.AgentToken(ctx, namespace, account, caller.Audience())
	}}}
}

// readers are the tokens for the state of the nodes of a namespace's agents, logReaders those for lines of their logs. They are
// kept: each new one is one more question of every agent to the API server.
func (c *Cluster) readers(namespace string) *agentTokens {
	return c.tokensOf(namespace + "/" + readerAccount)
}

func (c *Cluster) logReaders(namespace string) *agentTokens {
	return c.tokensOf(cmp.Or(c.o.Kube.Account, namespace+"/"+logReaderAccount))
}

func (c *Cluster) tokensOf(account string) *agentTokens {
	c.tokensMu.Lock()
	defer c.tokensMu.Unlock()
	if c.tokens[account] == nil {
		if c.tokens == nil {
			c.tokens = map[string]*agentTokens{}
		}
		namespace, name, _ := strings.Cut(account, "/")
		c.tokens[account] = newAgentTokens(c.client, namespace, name)
	}
	return c.tokens[account]
}

// headers gives the headers of one request to the agent of a node.
func (t *agentTokens) headers(ctx context.Context, node, method, path string, query url.Values, body []byte) (http.Header, error) {
	have, err := t.Token(ctx)
	if err != nil {
		return nil, err
	}
	return t.caller.Headers(have, node, method, path, query, body), nil
}
