package controller

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"plumbline.dev/plumbline/api/v1alpha1"
	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/capacity"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/observe"
)

// rows serves all findings of the leader's last judgement, of all namespaces, to whom the API server
// allows to get nodestates: node state names every pod too.
type rows struct {
	mu   sync.Mutex
	last *cluster.Rows // nil: not the leader, or nothing was judged yet
	at   time.Duration // observe.Uptime when the whole cluster was judged

	turns chan struct{}      // of answers at a time
	key   ed25519.PrivateKey // of all answers, since this start
}

// answersAtOnce bounds what callers can hold: all findings may be hundreds of megabytes.
const answersAtOnce = 4

func newRows() *rows {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return &rows{turns: make(chan struct{}, answersAtOnce), key: key}
}

// published is what the leader's Lease says of it.
func (s *rows) published() map[string]string {
	public, _ := s.key.Public().(ed25519.PublicKey)
	return agent.KeyAnnotations(public)
}

// take keeps a judgement instead of the one before.
func (s *rows) take(p cluster.Pass, pools []capacity.Forecast) {
	last := cluster.RowsOf(p.Report, pools)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = last
	if !p.Reread {
		s.at = observe.Uptime()
	}
}

func (s *rows) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	last, at := s.last, s.at
	s.mu.Unlock()
	if last == nil {
		http.Error(w, "this replica does not lead, or has judged nothing yet", http.StatusServiceUnavailable)
		return
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	default:
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many ask at a time; retry", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	age := observe.Uptime() - at
	if r.URL.Query().Has(agent.HeadOnly) {
		_ = last.WriteHead(w, age) // who asked has gone
		return
	}
	_ = last.Write(w, age) // likewise
}

// routes are all paths that the controller answers, and the right that each needs. Pages show a
// caller only what is in namespaces whose pods they may list; findings are of all.
func (s *rows) routes(ui *pages) map[string]route {
	out := map[string]route{"GET /" + agent.PathFindings: {"nodestates", s}}
	if ui != nil {
		out["GET /"+agent.PathUI] = route{"pages", http.StripPrefix("/"+strings.TrimSuffix(agent.PathUI, "/"), ui)}
	}
	return out
}

type route struct {
	resource string // of our group, which the caller must be allowed to get
	http.Handler
}

func (s *rows) handler(review door.Reviewer, ui *pages, now func() time.Time) http.Handler {
	mux := http.NewServeMux()
	for path, r := range s.routes(ui) {
		d := door.New(review, agent.Controller, door.Right{Group: v1alpha1.Group, Resource: r.resource}, now)
		mux.Handle(path, d.Wrap("get", agent.SignAnswers(s.key, agent.Controller, r)))
	}
	return mux
}

// serve answers over HTTPS until ctx ends.
func (s *rows) serve(ctx context.Context, listen string, review door.Reviewer, ui *pages, log *slog.Logger) error {
	if listen == "" {
		return nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	now := time.Now //nolint:forbidigo // of certificates, and how long answers of the API server are kept
	cert, err := door.Certificate("plumbline-controller", "plumbline-controller", now())
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: s.handler(review, ui, now), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 5 * time.Minute, IdleTimeout: 15 * time.Second,
		MaxHeaderBytes: door.MaxHeaders, ConnContext: door.ConnContext, Protocols: door.Protocols(), TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // callers must not fill the log
	}
	go func() {
		if err := srv.ServeTLS(door.Listener(l), "", ""); !errors.Is(err, http.ErrServerClosed) {
			log.Error("findings cannot be asked for any more", "error", err)
		}
	}()
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	return nil
}
