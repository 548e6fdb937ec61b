package cluster

import (
	"context"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/kube"
)

// tokenFor is how long a token is used: it is good for ten minutes.
const tokenFor = 8 * time.Minute

// tokens are those of one account, by audience. A long repair outlives many.
type tokens struct {
	client    *kube.Client
	namespace string
	account   string

	mu sync.Mutex
	of map[string]token
}

type token struct {
	text  string
	since time.Time
	at    time.Time // the API server's time then
}

// get gives a token for an audience, and asks for a new one when the old nears its end.
func (t *tokens) get(ctx context.Context, audience string) (token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if have, ok := t.of[audience]; ok && time.Since(have.since) < tokenFor {
		return have, nil
	}
	now := time.Now() //nolint:forbidigo // only the time that passes is used, never the hour
	text, at, err := t.client.AgentToken(ctx, t.namespace, t.account, audience)
	if err != nil {
		return token{}, err
	}
	if t.of == nil {
		t.of = map[string]token{}
	}
	t.of[audience] = token{text, now, at}
	return t.of[audience], nil
}
