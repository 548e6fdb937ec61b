package door

import (
	"crypto/sha256"
	"net/http"
	"sync"
	"time"
)

const (
	// maxNonces bounds the requests that are remembered, of callers who were admitted, and
	// maxNoncesOf those with one token: nobody keeps others out.
	maxNonces   = 1 << 16
	maxNoncesOf = 1 << 13
	// readAgain is how long a request that only reads may come again: proxies and clients send it
	// twice where a connection ended.
	readAgain = 30 * time.Second
	// clockSlack is how far the clocks of the API server and of this program may differ.
	clockSlack = 5 * time.Minute
	tidyEvery  = 10 * time.Second
)

// nonces are those of the requests that were admitted, until their tokens end: a request that
// somebody recorded is refused. After a restart of the program nothing is remembered.
type nonces struct {
	mu   sync.Mutex
	seen map[string]seen
	of   map[[sha256.Size]byte]int // by token
	tidy time.Time                 // when those of tokens that have ended were last dropped
}

type seen struct {
	at    time.Time // when it was first used
	end   time.Time // of its token
	token [sha256.Size]byte
}

func newNonces() nonces {
	return nonces{seen: map[string]seen{}, of: map[[sha256.Size]byte]int{}}
}

// use reports whether a request was not answered before, and whether it can be remembered.
func (n *nonces) use(nonce, method string, token [sha256.Size]byte, now, end time.Time) (fresh, room bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before, again := n.seen[nonce]; again {
		return method == http.MethodGet && now.Sub(before.at) < readAgain && !now.Before(before.at), true
	}
	if (len(n.seen) >= maxNonces || n.of[token] >= maxNoncesOf) && (now.Sub(n.tidy) >= tidyEvery || now.Before(n.tidy)) {
		n.tidy = now
		for k, s := range n.seen {
			if now.After(s.end.Add(clockSlack)) {
				n.drop(k, s)
			}
		}
	}
	if len(n.seen) >= maxNonces || n.of[token] >= maxNoncesOf {
		return true, false
	}
	n.seen[nonce] = seen{now, end, token}
	n.of[token]++
	return true, true
}

func (n *nonces) drop(nonce string, s seen) {
	delete(n.seen, nonce)
	if n.of[s.token]--; n.of[s.token] <= 0 {
		delete(n.of, s.token)
	}
}
