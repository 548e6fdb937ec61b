package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A lineage is how far the API server's data had come when this node last wrote there. It is kept on the node: what is
// in etcd goes back with etcd if it is restored.
type lineage struct {
	file string // empty: nothing outlives the agent
	log  *slog.Logger

	mu    sync.Mutex
	is    remembered
	known bool // that it is about this cluster
}

// remembered is the content of the file.
type remembered struct {
	Version  int             `json:"version"`
	Account  string          `json:"account"` // UID of the agents' ServiceAccount: it tells this cluster from any other
	Revision uint64          `json:"revision"`
	At       model.Time      `json:"at"`
	Restored *model.Restored `json:"restored,omitempty"`
}

const (
	lineageVersion = 1
	maxLineage     = 64 << 10
)

// newLineage reads what an earlier agent remembered, beside the directory of the event log. A file that cannot be read
// is none: then less is noticed, and nothing wrongly.
func newLineage(record string, log *slog.Logger) *lineage {
	l := &lineage{log: log}
	if record == "" {
		return l
	}
	l.file = filepath.Join(filepath.Dir(filepath.Clean(record)), "api-server.json")
	f, err := os.Open(l.file)
	if err != nil {
		return l
	}
	defer func() { _ = f.Close() }()
	var was remembered
	if err := json.NewDecoder(io.LimitReader(f, maxLineage)).Decode(&was); err != nil || was.Version != lineageVersion {
		log.Warn("what was remembered of the API server is not understood, and forgotten", "file", l.file)
		return l
	}
	l.is = was
	return l
}

// note takes a revision that the API server gave just now, and tells whether the row of the machine says something else
// since then.
func (l *lineage) note(account string, revision uint64, now time.Time) (news bool) {
	if account == "" || revision == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	news, l.known = !l.known, true
	was := l.is
	if was.Account != account { // another cluster, or Plumbline was installed anew: nothing can be compared
		was = remembered{}
	}
	if revision == was.Revision {
		return news
	}
	is := remembered{Version: lineageVersion, Account: account, Revision: revision, At: model.At(now), Restored: was.Restored}
	if model.WentBack(was.Revision, revision, int64(is.At.Sub(was.At)/time.Second)) {
		news = true
		is.Restored = &model.Restored{Store: model.StoreKubernetes, From: was.Revision, To: revision, Since: is.At}
		l.log.Warn("the API server's data was restored from an earlier time", "revision", revision, "had", was.Revision)
	}
	l.is = is
	if err := l.keep(); err != nil {
		l.log.Warn("a restart of the agent forgets how far the API server's data has come", "error", err)
	}
	return news
}

func (l *lineage) keep() error {
	if l.file == "" {
		return nil
	}
	b, err := json.Marshal(l.is)
	if err != nil {
		return err
	}
	return hostfile.Replace(l.file, b, 0o600)
}

// into gives a collector whose row of the machine says what is remembered.
func (l *lineage) into(c observe.NodeCollector, now func() time.Time) observe.NodeCollector {
	read := c.Read
	c.Read = func(ctx context.Context, f *model.NodeState) error {
		err := read(ctx, f)
		for i := range f.Machines {
			l.complete(&f.Machines[i], model.At(now()))
		}
		return err
	}
	return c
}

// complete says nothing before it is known that what is remembered is of this cluster: the machine may have been one of
// another.
func (l *lineage) complete(m *model.Machine, now model.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.known {
		return
	}
	m.Revision = l.is.Revision
	if r := l.is.Restored; r != nil && r.Since > now { // the clock was ahead
		r.Since = now
	}
	if r := l.is.Restored; r != nil && now.Sub(r.Since) < model.RestoredFor*time.Second {
		m.Restored = *r
	}
}
