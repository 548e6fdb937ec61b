package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/timeline/pick"
)

// Logs say where a node's logs are.
type Logs struct {
	Root   string           // the node's file system, as seen from here
	Places []LogPlace       // besides the usual ones
	Masks  []*regexp.Regexp // what else is masked before a line leaves the node
}

// How long one who asks waits for another, and for a read that is being given up.
const (
	logsTurn  = 2 * time.Second
	logsGrace = 300 * time.Millisecond
)

// A logReader reads the node's logs for one who asks at a time: a read that hangs in a dead
// mount costs one thread, however often somebody asks.
type logReader struct {
	node   string
	within time.Duration
	now    func() time.Time
	zone   func() *time.Location
	find   func(context.Context) ([]logFile, logMissing)
	masks  []*regexp.Regexp
	turn   chan struct{}

	mu sync.Mutex
	at string // the file that is being read
}

func newLogReader(c *Config) *logReader {
	places := logPlaces(c.Logs.Places, c.Record)
	return &logReader{
		node: c.Node, within: agent.LogsWithin, now: c.Now, turn: make(chan struct{}, 1), masks: c.Logs.Masks,
		zone: func() *time.Location { return nodeZone(c.Logs.Root) },
		find: func(ctx context.Context) ([]logFile, logMissing) { return findLogs(ctx, c.Logs.Root, places) },
	}
}

// logsRight is what a caller must be allowed to do for lines of logs: to read logs of the pod's namespace if a pod is all that
// the request names, and otherwise of all namespaces, since addresses and containers may be anybody's.
func logsRight(r *http.Request) door.Right {
	right := door.Right{Group: agent.Group, Resource: agent.LogsResource}
	if q, err := pick.ParseQuestion(r.URL.Query()); err == nil && q.OnlyPod() {
		right.Namespace = q.Namespace
	}
	return right
}

// serveLogs hands out the lines about something.
func (s *Server) serveLogs(w http.ResponseWriter, r *http.Request) {
	q, err := pick.ParseQuestion(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a, err := s.logs.ask(r.Context(), q)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	if err := a.write(w); err != nil {
		s.log.Debug("answer", "error", err) // whoever asked has gone
	}
}

// ask reads, and comes back in time whatever hangs.
func (l *logReader) ask(ctx context.Context, q pick.Question) (*logAnswer, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(logsTurn):
		if at := l.reading(""); at != "" {
			return nil, fmt.Errorf("logs are being read for somebody else, now %s", at)
		}
		return nil, errors.New("logs are being read for somebody else")
	}
	ctx, cancel := context.WithTimeout(ctx, l.within)
	defer cancel()
	a := &logAnswer{account: agent.LogAccount{Node: l.node}}
	done := make(chan struct{})
	go func() {
		defer func() { <-l.turn }()
		defer close(done)
		modestly(func() { l.read(ctx, q, a) })
	}()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(logsGrace):
			a.leave("reading " + l.reading("") + " does not come back")
		}
	}
	a.end(l.now())
	return a, nil
}

// reading tells which file is being read; with a name, that it is that one from now on.
func (l *logReader) reading(name string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if name != "" {
		l.at = name
	}
	return l.at
}
