package web

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"plumbline.dev/plumbline/internal/plain"
)

// askedWithin bounds what is asked of nodes for one page.
const askedWithin = 90 * time.Second

// events shows what a node's event log has, and who did it. It names pods of all namespaces.
func (l *look) events() (string, any, error) {
	name := l.q.Get("node")
	if l.View.NodeByName(name) == nil {
		return "", nil, missing("No node " + name + " in the last judgement.")
	}
	if l.site.Changes == nil || !l.unlimited {
		return "", nil, missing("The event log of " + name + " cannot be asked for from here.")
	}
	ctx, cancel := context.WithTimeout(l.r.Context(), askedWithin)
	defer cancel()
	all, err := l.site.Changes(ctx, name)
	says := ""
	if err != nil {
		says = err.Error()
	}
	return "events", map[string]any{"Node": name, "Changes": all, "Error": says, "Cut": len(all) > 0 && len(all) == l.site.Most}, nil
}

// timeline answers with the timeline of a pod, which is a page of its own with a policy of its own.
func (s *Site) timeline(w http.ResponseWriter, r *http.Request) {
	pod := r.URL.Query().Get("pod")
	if _, limited := mayList(r); s.Timeline == nil || limited { // logs of a node name pods of all namespaces
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", s.TimelinePolicy+"; frame-ancestors 'self'")
	ctx, cancel := context.WithTimeout(r.Context(), askedWithin)
	defer cancel()
	var b bytes.Buffer
	if err := s.Timeline(ctx, &b, pod); err != nil {
		http.Error(w, "No timeline: "+plain.Line(err.Error()), http.StatusOK)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes()) // who asked may be gone
}
