package cluster

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
)

// A lineage remembers how far the datastores of a cluster had come, outside of them: in memory, and for the next run in
// a file. Agents remember it too, of the API server alone; this one is also of Calico's etcd. A nil one remembers nothing.
type lineage struct {
	mu       sync.Mutex
	guid     string
	is       revisions
	recalled bool       // by another run: it may have read later than this one
	kept     model.Time // when it was last written into the file
}

// revisions is the content of the file. They are compared table by table: an API server may keep some kinds of objects in
// an etcd of their own.
type revisions struct {
	Version   int                       `json:"version"`
	Datastore string                    `json:"datastore"` // of Calico: after a migration nothing can be compared
	At        model.Time                `json:"at"`
	Of        map[model.Table]uint64    `json:"of"`
	Restored  map[string]model.Restored `json:"restored,omitempty"` // by store
}

// apart is how long after another run something must have been read to be compared with it: runs at a time must not
// take each other for a restored cluster.
const apart = 2 * time.Minute

// keepEvery is how often a run that goes on and on writes the file.
const keepEvery = time.Minute

const (
	revisionsVersion = 1
	revisionsName    = "revisions.json"
	maxRevisions     = 1 << 20
)

// compare completes a snapshot with what is remembered.
func (l *lineage) compare(o *Options, s *model.Snapshot) {
	if l == nil || len(s.Info) != 1 || s.Meta.GUID == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.guid != s.Meta.GUID {
		l.guid, l.is, l.recalled, l.kept = s.Meta.GUID, o.recallRevisions(s.Meta.GUID), true, 0
	}
	info := &s.Info[0]
	now := revisions{Version: revisionsVersion, Datastore: info.Datastore, At: s.Meta.Taken, Of: map[model.Table]uint64{}, Restored: map[string]model.Restored{}}
	was := l.is
	if was.Datastore != info.Datastore {
		was = revisions{}
	}
	comparable := !l.recalled || now.At.Sub(was.At) >= apart
	for t, n := range was.Of { // of a table that is not read now
		now.Of[t] = n
	}
	for store, r := range was.Restored {
		if now.At.Sub(r.Since) < model.RestoredFor*time.Second {
			now.Restored[store] = r
		}
	}
	for _, c := range s.Coverage {
		n, err := strconv.ParseUint(c.Revision, 10, 64)
		if err != nil || c.Table.OfNode() {
			continue
		}
		if store := storeOf(c.Table, info.Datastore); comparable && model.WentBack(was.Of[c.Table], n, int64(now.At.Sub(was.At)/time.Second)) {
			now.Restored[store] = model.Restored{Store: store, From: was.Of[c.Table], To: n, Since: now.At}
		}
		now.Of[c.Table] = n
	}
	l.is, l.recalled = now, false
	info.Restored = nil
	for _, store := range []string{model.StoreKubernetes, model.StoreCalico} {
		if r, ok := now.Restored[store]; ok {
			info.Restored = append(info.Restored, r)
		}
	}
}

// storeOf is where a table is kept.
func storeOf(t model.Table, datastore string) string {
	if datastore == "etcd" && t >= model.Cluster && t != model.Components {
		return model.StoreCalico
	}
	return model.StoreKubernetes
}

func (o *Options) revisionsFile(guid string) string {
	if o.StateDir == "" || !guidOK.MatchString(guid) {
		return ""
	}
	return filepath.Join(o.StateDir, "plumbline", guid, revisionsName)
}

// recallRevisions reads what an earlier run kept; nothing if the file cannot be read.
func (o *Options) recallRevisions(guid string) (was revisions) {
	path := o.revisionsFile(guid)
	if path == "" {
		return was
	}
	f, err := os.Open(path)
	if err != nil {
		return was
	}
	defer func() { _ = f.Close() }()
	if json.NewDecoder(io.LimitReader(f, maxRevisions)).Decode(&was) != nil || was.Version != revisionsVersion {
		return revisions{}
	}
	return was
}

// keep writes them for the next run. Another run at this time may have come further; only where a datastore went back is
// what it wrote replaced.
func (l *lineage) keep(o *Options) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	path := o.revisionsFile(l.guid)
	if path == "" || l.is.Version == 0 || l.kept != 0 && l.is.At.Sub(l.kept) < keepEvery {
		return nil
	}
	is := l.is
	if was := o.recallRevisions(l.guid); was.Datastore == is.Datastore && len(is.Restored) == 0 {
		is.Of = maps.Clone(is.Of)
		for t, n := range was.Of {
			is.Of[t] = max(is.Of[t], n)
		}
		is.At = max(is.At, was.At)
	}
	l.kept = l.is.At
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(is)
	if err != nil {
		return err
	}
	return hostfile.Replace(path, b, 0o600)
}
