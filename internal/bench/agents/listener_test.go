//go:build e2e

package agents

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/kube/review"
	"plumbline.dev/plumbline/internal/model"
)

// How an agent behaves.
const (
	answers int32 = iota
	hangs         // it accepts the request, and does not answer
	hangsUp
	tarries // it takes 10 s
)

const tarriesFor = 10 * time.Second

// A leave is a reviewed token, cached for a minute as the real agent does.
type leave struct {
	token string
	until time.Time
}

// answer opens the port of all agents: the destination address identifies the node. The
// API server's part is real: its proxy, a separate connection to each node, and two
// reviews of each new token.
func (c *cluster) answer(t *testing.T, reviewer *review.Reviewer) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", net.JoinHostPort("0.0.0.0", strconv.Itoa(agent.Port)))
	if err != nil {
		t.Fatal(err)
	}
	by := map[netip.Addr]*host{}
	for _, h := range c.hosts {
		by[h.ip] = h
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 15 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			at, _ := q.Context().Value(http.LocalAddrContextKey).(net.Addr)
			called, _ := netip.ParseAddrPort(at.String())
			h := by[called.Addr().Unmap()]
			if h == nil {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			h.serve(w, q, reviewer)
		}),
	}
	go func() { _ = srv.ServeTLS(l, "", "") }()
	t.Cleanup(func() { _ = srv.Close() })
}

func (h *host) serve(w http.ResponseWriter, q *http.Request, reviewer *review.Reviewer) {
	switch h.mood.Load() {
	case hangs:
		<-q.Context().Done()
		return
	case hangsUp:
		panic(http.ErrAbortHandler)
	case tarries:
		select {
		case <-q.Context().Done():
			return
		case <-time.After(tarriesFor):
		}
	}
	audience, err := agent.AudienceOf(h.name, q, nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	if ok, err := h.may(q.Context(), q.Header.Get(agent.Header), audience, reviewer); err != nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "the API server cannot be asked to verify the token; retry", http.StatusServiceUnavailable)
		return
	} else if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	w.Header().Set(agent.VersionHeader, strconv.Itoa(agent.Version))
	w.Header().Set("Content-Type", "application/gzip")
	_, _ = w.Write(h.reply(q.URL.Query()))
}

// reply gives all tables, or what is looked for, as the real agent does.
func (h *host) reply(q url.Values) []byte {
	sought, err := model.Seek(q.Get("of"), q.Get("name"))
	if err != nil {
		return h.body
	}
	f := *h.state
	sought.Narrow(&f, h.name)
	body, err := h.tables(&f, time.Now(), sought.Tables())
	if err != nil {
		return nil
	}
	return body
}

func (h *host) may(ctx context.Context, token, audience string, reviewer *review.Reviewer) (bool, error) {
	if known := h.known.Load(); known != nil && known.token == token && time.Now().Before(known.until) {
		return true, nil
	}
	if ok, err := reviewer.Genuine(ctx, token); err != nil || !ok {
		return false, err
	}
	owner, ok, err := reviewer.Authenticate(ctx, token, audience)
	if err != nil || !ok {
		return false, err
	}
	if ok, err = reviewer.Authorize(ctx, owner, "get", agent.Group, agent.Resource, "", h.name); ok {
		h.known.Store(&leave{token, time.Now().Add(time.Minute)})
	}
	return ok, err
}

// trouble makes one of a hundred agents hang and one slow, and returns the hanging ones.
func (c *cluster) trouble() (silent []string) {
	for i, h := range c.hosts {
		switch i % 100 {
		case 13:
			h.mood.Store(hangs)
			if i/100%2 == 1 {
				h.mood.Store(hangsUp)
			}
			silent = append(silent, h.name)
		case 63:
			h.mood.Store(tarries)
		}
	}
	return silent
}
