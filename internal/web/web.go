// Package web is the UI: pages about the last judgement of a cluster, from a live one or a bundle. It reads what was
// judged and changes nothing; what comes from the cluster goes through html/template as text, and never into a script
// or a style. Pages work without JavaScript; with it they follow the cluster.
package web

import (
	"context"
	"embed"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/audit"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/repair"
)

//go:embed templates static
var files embed.FS

// A Site is what the pages are about, and where their more costly parts come from.
type Site struct {
	State   *State
	Program string // how the user calls the command line
	Flags   string // that commands need to read the same
	Told    bool   // such flags come with each request, from Remote
	Where   string // a context or a bundle
	Live    bool   // it is judged again and again

	// Timeline writes the timeline of a pod as a page of its own, with this policy; nil: there are no logs.
	Timeline       func(ctx context.Context, w io.Writer, pod string) error
	TimelinePolicy string
	// Changes gives the newest entries of a node's event log; nil: it cannot be asked.
	Changes func(ctx context.Context, node string) ([]Change, error)
	Most    int // of them
	// Repairs gives the plans that were applied and the policies; nil: it is not known.
	Repairs func(ctx context.Context, guid string) Repairs
	// Plan plans the repair of findings of a report, and writes nothing; nil: it is not shown.
	Plan func(ctx context.Context, r *audit.Report, chosen []finding.Finding) *repair.Plan
}

// A Change is an entry of a node's event log.
type Change struct {
	At                  time.Time // by the node's clock
	What, Of, Name, Who string
	Note                string
}

// Handler serves the pages. All addresses in them are relative, and below one directory.
func (s *Site) Handler() http.Handler {
	m := http.NewServeMux()
	for path, h := range s.routes() {
		m.Handle(path, h)
	}
	return headers(m)
}

// Paths lists all paths of the site but those of its own files.
func Paths() []string {
	var out []string
	for path := range (&Site{}).routes() {
		if path = strings.TrimSuffix(strings.TrimPrefix(path, "GET "), "{$}"); path != "/static/" {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

func (s *Site) routes() map[string]http.Handler {
	out := map[string]http.Handler{
		"GET /map.json": http.HandlerFunc(s.mapData), "GET /live": http.HandlerFunc(s.live),
		"GET /timeline": http.HandlerFunc(s.timeline), "GET /static/": static(),
	}
	for path, page := range map[string]func(*look) (string, any, error){
		"GET /{$}":      (*look).overview,
		"GET /findings": (*look).findings,
		"GET /finding":  (*look).finding,
		"GET /pod":      (*look).pod,
		"GET /address":  (*look).address,
		"GET /node":     (*look).node,
		"GET /nodes":    (*look).nodes,
		"GET /map":      (*look).ipam,
		"GET /code":     (*look).code,
		"GET /find":     (*look).find,
		"GET /events":   (*look).events,
		"GET /repairs":  (*look).repairs,
	} {
		out[path] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, page) })
	}
	return out
}

// headers are those of every answer: it may load nothing but what is served here, and nobody may frame or read it.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
