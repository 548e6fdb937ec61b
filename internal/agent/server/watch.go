package server

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxWatchers  = 4
	watchFor     = time.Hour              // then the caller comes again, and is admitted again
	burst        = 100 * time.Millisecond // changes come in bursts
	frameWithin  = 30 * time.Second       // a caller that does not read for so long is gone
	watchersFull = "too many watch this node; retry later"
)

// lostAfter is how long what was sent to a caller may stay unanswered: a machine that lost its power must
// not keep the place of a watcher.
const lostAfter = time.Minute

// forgetLostCallers ends connections to callers that do not answer. Accepted connections inherit it.
func forgetLostCallers(_, _ string, c syscall.RawConn) error {
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(lostAfter.Milliseconds()))
	})
	return errors.Join(err, set)
}

// serveWatch sends the tables, and then what changes in them, until the caller leaves.
func (s *Server) serveWatch(w http.ResponseWriter, r *http.Request) {
	select {
	case s.watchers <- struct{}{}:
		defer func() { <-s.watchers }()
	default:
		http.Error(w, watchersFull, http.StatusServiceUnavailable)
		return
	}
	s.asked.Store(true)
	q := r.URL.Query()
	watch := &watcher{store: s.store, sums: q.Get("ways") == "sum"}
	if seq, err := strconv.ParseUint(q.Get("seq"), 10, 64); err == nil {
		watch.resume(q.Get("start"), seq)
	}
	out := http.NewResponseController(w)
	_ = out.SetReadDeadline(time.Time{})                                            // it would end the request
	end := time.NewTimer(watchFor - time.Duration(rand.Int64N(int64(watchFor/10)))) //nolint:gosec // it spreads the load, no more
	defer end.Stop()
	beat := time.NewTicker(s.store.beat)
	defer beat.Stop()
	w.Header().Set("Content-Type", "application/jsonl")
	_ = out.Flush() // the caller waits for an answer, and then for the tables
	for lines, due := json.NewEncoder(w), false; ; {
		frame, changed, err := watch.next(s.now(), due)
		if err != nil {
			s.log.Warn("a watch ended: a row cannot be sent", "error", err)
			return
		}
		if out.SetWriteDeadline(time.Now().Add(frameWithin)) != nil || lines.Encode(frame) != nil || out.Flush() != nil { //nolint:forbidigo // a deadline of the connection
			return
		}
		due = false
		select {
		case <-r.Context().Done():
			return
		case <-end.C:
			return
		case <-beat.C:
			due = true
			continue
		case <-changed:
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(burst):
		}
	}
}
