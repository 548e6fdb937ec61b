//go:build e2e

package size

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A call is a recorded request, and what it waited for: the calls that were answered
// when it began. So a replay has the same concurrency as the original.
type call struct {
	Store  string // its server: the API server, or Calico's etcd
	Method string
	URI    string
	Proto  string
	Header http.Header
	Body   []byte
	After  []int

	Bytes      int64 // of the response body, as sent
	began, end time.Time
}

const (
	toAPI  = "api"
	toEtcd = "etcd"
)

// A tape has the calls of the recorders.
type tape struct {
	sync.Mutex
	calls []*call
}

// script returns the calls with what each waited for.
func (p *tape) script() []call {
	p.Lock()
	defer p.Unlock()
	var out []call
	for _, c := range p.calls {
		for j, other := range p.calls {
			if !other.end.IsZero() && !other.end.After(c.began) {
				c.After = append(c.After, j)
			}
		}
		out = append(out, *c)
	}
	return out
}

// A recorder is a proxy of a server that records requests. It supports HTTP/1.1 and
// HTTP/2 (and so gRPC), whichever the client prefers. It makes the server seem farther
// away, so check would request compressed lists; the recorder removes that.
type recorder struct {
	url string
	ca  string // the CA file that clients must trust
}

func (p *tape) record(t *testing.T, store, target string, conf *tls.Config) recorder {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Host = "" },
		Transport:     &http.Transport{TLSClientConfig: conf, ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: 16},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // it is not an error if a client stops reading
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Proto == "HTTP/1.1" {
			r.Header.Set("Accept-Encoding", "identity")
		}
		c := &call{Store: store, Method: r.Method, URI: r.URL.RequestURI(), Proto: r.Proto, Header: r.Header.Clone(), Body: body, began: time.Now()}
		p.Lock()
		p.calls = append(p.calls, c)
		p.Unlock()
		sized := &counter{ResponseWriter: w}
		defer func() {
			p.Lock()
			defer p.Unlock()
			c.end, c.Bytes = time.Now(), sized.n
		}()
		proxy.ServeHTTP(sized, r)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	ca := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return recorder{url: srv.URL, ca: ca}
}

// A counter counts what is written through it.
type counter struct {
	http.ResponseWriter
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.n += int64(n)
	return n, err
}

// Unwrap allows flushes.
func (c *counter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// kubeconfig returns a kubeconfig for the recorder.
func (r recorder) kubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: r\nclusters: [{name: r, cluster: {server: \"" + r.url + "\", certificate-authority: \"" + r.ca +
		"\"}}]\nusers: [{name: r, user: {}}]\ncontexts: [{name: r, context: {cluster: r, user: r}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
