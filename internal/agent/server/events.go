package server

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
)

// Bounds of an answer: clients read no more.
const (
	maxEntries   = 2000
	maxEvents    = 3 << 20
	eventsWithin = 4 * time.Second
)

// events returns the newest entries of the event log about something (about), by the agent
// or by the guard (by), after a time (since).
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	about, by := q.Get("about"), q.Get("by")
	var since time.Time
	if text := q.Get("since"); text != "" {
		var err error
		if since, err = time.Parse(time.RFC3339Nano, text); err != nil {
			http.Error(w, "since: not an RFC 3339 time", http.StatusBadRequest)
			return
		}
	}
	out, err := take(r.Context(), s.serveEvents, eventsWithin, func() ([]eventlog.Entry, error) {
		return newest(s.record, func(e *eventlog.Entry) bool {
			return (by == "" || e.By == by) && e.At.After(since) &&
				(about == "" || strings.Contains(e.Name, about) || strings.Contains(string(e.Was), about) || strings.Contains(string(e.Now), about))
		})
	})
	switch {
	case errors.Is(err, eventlog.ErrNewer):
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	case err != nil:
		http.Error(w, "the event log cannot be read", http.StatusInternalServerError)
		return
	}
	writeJSON(w, out)
}

// newest returns the last of the wanted entries, as many as an answer may have.
func newest(dir string, wanted func(*eventlog.Entry) bool) ([]eventlog.Entry, error) {
	if dir == "" {
		return nil, nil
	}
	var out []eventlog.Entry
	_, err := eventlog.Read(dir, func(e eventlog.Entry) error {
		if wanted(&e) {
			out = append(out, e)
		}
		if len(out) > 2*maxEntries {
			out = append(out[:0], out[len(out)-maxEntries:]...)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // it is made with the first event
	}
	from, size := len(out), 0
	for from > max(0, len(out)-maxEntries) {
		e := &out[from-1]
		if size += len(e.Name) + len(e.Was) + len(e.Now) + len(e.Note) + 256; size > maxEvents {
			break
		}
		from--
	}
	return out[from:], err
}
