package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
)

// Listen answers over HTTPS until ctx ends, for callers with a token that the API server
// accepts. The certificate is self-signed: the API server's proxy does not verify it; who
// asks directly compares it with the one in the agent's Lease.
func (s *Server) Listen(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+agent.PathHealth, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		s.store.touch() // never answers if the store is deadlocked; a kernel or runtime that hangs does not hold it
		_, _ = io.WriteString(w, "ok\n")
	})
	signed := agent.SignAnswers(s.key, s.node, s.handler())
	mux.Handle("GET /", s.door.Wrap("get", signed))
	mux.Handle("GET /"+agent.PathLogs, s.door.WrapFor("get", logsRight, signed))
	mux.Handle("GET /"+agent.PathWatch, s.door.Wrap("get", s.handler())) // it does not end; who watches compares certificates
	mux.Handle("/", s.door.Wrap("update", signed))                       // every method that may change something
	srv := s.http(mux)
	srv.Protocols = door.Protocols()
	srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.cert}, MinVersion: tls.VersionTLS12}
	return serve(ctx, srv, func() error { return srv.ServeTLS(door.Listener(l), "", "") })
}

// ListenUnix answers root on the node itself, also when the API server is unavailable.
func (s *Server) ListenUnix(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := removeSocket(path); err != nil {
		return fmt.Errorf("listen on %s: %w", path, err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	srv := s.http(s.handler())
	return serve(ctx, srv, func() error { return srv.Serve(rootOnly{l}) })
}

// removeSocket removes the socket that a previous agent left, and nothing else.
func removeSocket(path string) error {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case st.Mode().Type() != fs.ModeSocket:
		return errors.New("the path exists and is not a socket")
	}
	return os.Remove(path)
}

// http bounds the resources that one caller can hold.
func (s *Server) http(h http.Handler) *http.Server {
	return &http.Server{
		Handler: versioned(h), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 15 * time.Second, MaxHeaderBytes: door.MaxHeaders, ConnContext: door.ConnContext,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // callers must not fill the log
	}
}

// versioned puts the version of the protocol into every answer, also into refusals.
func versioned(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(agent.VersionHeader, strconv.Itoa(agent.Version))
		h.ServeHTTP(w, r)
	})
}

func serve(ctx context.Context, srv *http.Server, run func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := run(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
