package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// handler answers authorized requests.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /"+agent.PathDigest, func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, s.digest()) })
	mux.HandleFunc("GET /"+agent.PathTables, s.tables)
	mux.HandleFunc("GET /"+agent.PathWatch, s.serveWatch)
	mux.HandleFunc("GET /"+agent.PathVerify, s.serveVerification)
	mux.HandleFunc("GET /"+agent.PathEvents, s.events)
	mux.HandleFunc("GET /"+agent.PathGuard, s.serveGuard)
	mux.HandleFunc("GET /"+agent.PathLogs, s.serveLogs)
	mux.HandleFunc("GET /"+agent.PathObject, s.serveObject)
	mux.HandleFunc("POST /"+agent.PathChange, s.doChange)
	return mux
}

func (s *Server) digest() agent.Digest { return s.store.digest(s.now()) }

// tables returns whole tables, or what concerns one pod, one address or what is looked for.
func (s *Server) tables(w http.ResponseWriter, r *http.Request) {
	s.asked.Store(true)
	q := r.URL.Query()
	tables, ok := nodeTables(q["table"])
	if !ok {
		http.Error(w, "unknown table", http.StatusBadRequest)
		return
	}
	reduce, of, err := reduction(q, s.node)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if reduce != nil {
		tables = of
	}
	var late map[model.Table]time.Duration
	if q.Get("fresh") != "" {
		late = s.refresh(r.Context(), tables...)
	}
	snap := s.store.snapshot(s.now(), tables...)
	for i := range snap.Coverage {
		// A runtime that does not answer still gives its row in the table of runtimes.
		if c := &snap.Coverage[i]; late[c.Table] > 0 && c.Table != model.Runtimes && c.State.Seen() {
			c.State, c.Reason = model.Lost, "not reread within "+late[c.Table].String()
		}
	}
	if reduce != nil {
		reduce(snap.NodeState[s.node])
	}
	if f := snap.NodeState[s.node]; q.Get("ways") == "sum" && f != nil {
		f.SumWays(buckets(q["open"]))
	}
	w.Header().Set("Content-Type", "application/gzip")
	if err := snapshotio.WriteBundle(w, snap); err != nil {
		s.log.Debug("answer", "error", err) // the caller has disconnected
	}
}

// buckets reads the numbers of buckets whose rows are asked for.
func buckets(texts []string) (out []int) {
	for _, t := range texts[:min(len(texts), model.WayBuckets)] {
		if n, err := strconv.Atoi(t); err == nil && n >= 0 && n < model.WayBuckets {
			out = append(out, n)
		}
	}
	return out
}

func nodeTables(names []string) ([]model.Table, bool) {
	var out []model.Table
	for _, name := range names {
		var t model.Table
		if err := t.UnmarshalText([]byte(name)); err != nil || !t.OfNode() {
			return nil, false
		}
		out = append(out, t)
	}
	return out, true
}

func (s *Server) serveVerification(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	nonce := v.Get("nonce")
	v.Del("nonce")
	q, ok := asked(v)
	ok = ok && len(nonce) <= agent.MaxNonce
	if !ok {
		http.Error(w, fmt.Sprintf("specify ip=ADDRESS or container=FULL_ID, at most %d of each, or all=1", agent.MaxAsked), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), verifyWithin)
	defer cancel()
	verification := s.collectVerification(ctx, q)
	answer, err := agent.SignVerification(s.key, nonce, &verification)
	if err != nil {
		http.Error(w, "sign the verification: "+err.Error(), http.StatusInternalServerError)
		return
	}
	writeJSON(w, answer)
}

// asked reads what to verify. It refuses values that may be spelled differently in the
// tables: they would never match.
func asked(v url.Values) (q question, ok bool) {
	if v.Has("all") {
		q.all = true
		return q, v.Get("all") == "1" && len(v) == 1
	}
	texts, ids := v["ip"], v["container"]
	if len(texts)+len(ids) == 0 || max(len(texts), len(ids)) > agent.MaxAsked {
		return q, false
	}
	for _, id := range ids {
		if !isFullID(id) {
			return q, false
		}
		q.containers = append(q.containers, id)
	}
	for _, text := range texts {
		ip, err := netip.ParseAddr(text)
		ip = ip.Unmap()
		if err != nil || ip.Zone() != "" || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return q, false
		}
		q.ips = append(q.ips, ip)
	}
	return q, true
}

// isFullID reports whether s is a container ID as runtimes return it.
func isFullID(s string) bool { return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == "" }

const (
	freshWithin  = 700 * time.Millisecond
	freshMost    = 3 * time.Second // of a node that is slow; whoever asks waits five
	verifyWithin = 3 * time.Second
)

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the caller may have disconnected
}
