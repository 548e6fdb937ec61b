package kube

import (
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

// unpagedClient is for whole lists. They use HTTP/1.1, each over a connection of its own:
// measured at 150,000 pods an API server sends them twice as fast as over HTTP/2, where
// every few kilobytes pass from one goroutine to another.
func unpagedClient(cfg *rest.Config, base *url.URL) (*http.Client, error) {
	own := rest.CopyConfig(cfg)
	own.NextProtos = []string{"http/1.1"}
	return through(own, base, MayRead)
}

// near is the time within which a server in our own network answers a small request.
const nearestTime = 5 * time.Millisecond

// listUnpaged returns the client and the headers to request a list. Short lists, with a
// selector, use the normal client. A near server need not compress, which takes longer than
// sending, and longest on a busy API server.
func (c *Client) listUnpaged(query url.Values) (*http.Client, http.Header) {
	if c.lists == nil || len(query["fieldSelector"])+len(query["labelSelector"]) > 0 {
		return c.http, nil
	}
	if d := c.quickest.Load(); d > 0 && time.Duration(d) < nearestTime {
		return c.lists, http.Header{"Accept-Encoding": {"identity"}}
	}
	return c.lists, nil
}

// answered records how long a small request took.
func (c *Client) answered(d time.Duration) {
	if was := c.quickest.Load(); was == 0 || int64(d) < was {
		c.quickest.Store(max(int64(d), 1)) // if two do so at once, either value is good enough
	}
}
