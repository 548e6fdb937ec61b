package kube

import (
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

// unpagedClient is for whole lists. They come by HTTP/1.1, each over a connection of its own:
// measured at 150,000 pods an API server hands them out twice as fast as by HTTP/2, where
// every few kilobytes go from one goroutine to the other.
func unpagedClient(cfg *rest.Config, base *url.URL) (*http.Client, error) {
	own := rest.CopyConfig(cfg)
	own.NextProtos = []string{"http/1.1"}
	return through(own, base, mayRead)
}

// near is within which time the server of our own network answers a small question.
const nearestTime = 5 * time.Millisecond

// listUnpaged is the client and the header to ask for a list. What few rows a selector leaves
// comes the usual way. A server that is near need not compress, which takes it longer than
// sending does, and longest on an API server that is busy.
func (c *Client) listUnpaged(query url.Values) (*http.Client, http.Header) {
	if c.lists == nil || len(query["fieldSelector"])+len(query["labelSelector"]) > 0 {
		return c.http, nil
	}
	if d := c.quickest.Load(); d > 0 && time.Duration(d) < nearestTime {
		return c.lists, http.Header{"Accept-Encoding": {"identity"}}
	}
	return c.lists, nil
}

// answered notes how long a small question took.
func (c *Client) answered(d time.Duration) {
	if was := c.quickest.Load(); was == 0 || int64(d) < was {
		c.quickest.Store(max(int64(d), 1)) // if two do so at once, either is good enough
	}
}
