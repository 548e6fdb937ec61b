package door

import (
	"net/http"
	"sync"
	"time"
)

const (
	// maxNonces bounds the requests that are remembered, of callers who were admitted.
	maxNonces = 1 << 16
	// readAgain is how long a request that only reads may come again: proxies and clients send it
	// twice where a connection ended.
	readAgain = 30 * time.Second
)

// nonces are those of the requests that were admitted, until their tokens end: a request that
// somebody recorded is refused. After a restart of the program nothing is remembered.
type nonces struct {
	mu   sync.Mutex
	seen map[string]seen
}

type seen struct {
	at  time.Time // when it was first used
	end time.Time // of its token
}

// use reports whether a request may be answered.
func (n *nonces) use(nonce, method string, now, end time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before, again := n.seen[nonce]; again {
		return method == http.MethodGet && now.Sub(before.at) < readAgain && !now.Before(before.at)
	}
	if len(n.seen) >= maxNonces {
		for k, s := range n.seen {
			if now.After(s.end.Add(clockSlack)) {
				delete(n.seen, k)
			}
		}
	}
	if len(n.seen) >= maxNonces {
		return false
	}
	n.seen[nonce] = seen{now, end}
	return true
}

// clockSlack is how far the clocks of the API server and of this program may differ: a token is
// refused a minute after its end.
const clockSlack = 5 * time.Minute
