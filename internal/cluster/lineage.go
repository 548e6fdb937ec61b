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
	recalled map[string]revisions // of earlier runs, by GUID: read before anything else was

	mu     sync.Mutex
	guid   string
	is     revisions
	listed map[model.Table]uint64 // by this run
	kept   model.Time             // when it was last written into the file
}

// newLineage recalls what earlier runs kept. It must be called before the cluster is read: what a run that goes on at the
// same time reads later must not make this one look restored.
func newLineage(o *Options) *lineage {
	l := &lineage{recalled: map[string]revisions{}}
	if o.StateDir == "" {
		return l
	}
	files, _ := filepath.Glob(filepath.Join(o.StateDir, "plumbline", "*", revisionsName)) // the pattern is valid
	for _, f := range files[:min(len(files), maxClusters)] {
		guid := filepath.Base(filepath.Dir(f))
		l.recalled[guid] = o.recallRevisions(guid)
	}
	return l
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

// keepEvery is how often a run that goes on and on writes the file.
const keepEvery = 5 * time.Second

const (
	revisionsVersion = 1
	revisionsName    = "revisions.json"
	maxRevisions     = 1 << 20
	maxClusters      = 1000
)

// compare completes a snapshot with what is remembered.
func (l *lineage) compare(s *model.Snapshot) {
	if l == nil || len(s.Info) != 1 || s.Meta.GUID == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.guid != s.Meta.GUID {
		l.guid, l.is, l.kept, l.listed = s.Meta.GUID, l.recalled[s.Meta.GUID], 0, map[model.Table]uint64{}
	}
	info := &s.Info[0]
	now := revisions{Version: revisionsVersion, Datastore: info.Datastore, At: s.Meta.Taken, Of: map[model.Table]uint64{}, Restored: map[string]model.Restored{}}
	was := l.is
	if was.Datastore != info.Datastore {
		was = revisions{}
	}
	for t, n := range was.Of { // of a table that is not read now
		now.Of[t] = n
	}
	for store, r := range was.Restored {
		if now.At.Sub(r.Since) < model.RestoredFor*time.Second {
			now.Restored[store] = r
		}
	}
	for t, n := range listed(s) {
		if l.listed[t] == n { // the list that a watch began with, which is older than what it has brought since
			continue
		}
		l.listed[t] = n
		if store := storeOf(t, info.Datastore); model.WentBack(was.Of[t], n, int64(now.At.Sub(was.At)/time.Second)) {
			now.Restored[store] = model.Restored{Store: store, From: was.Of[t], To: n, Since: now.At}
			now.Of[t] = n
		}
		now.Of[t] = max(now.Of[t], n)
	}
	followed(s, now.Of)
	l.is = now
	info.Restored = nil
	for _, store := range []string{model.StoreKubernetes, model.StoreCalico} {
		if r, ok := now.Restored[store]; ok {
			info.Restored = append(info.Restored, r)
		}
	}
}

// listed gives the revisions of the lists of tables that were read completely. A list is as new as everything that was
// known before it began.
func listed(s *model.Snapshot) map[model.Table]uint64 {
	out := map[model.Table]uint64{}
	for _, c := range s.Coverage {
		if n, err := strconv.ParseUint(c.Revision, 10, 64); err == nil && !c.Table.OfNode() && c.State == model.Complete {
			out[c.Table] = n
		}
	}
	return out
}

// followed takes the revisions of rows: a watch has brought them since the list.
func followed(s *model.Snapshot, out map[model.Table]uint64) {
	raise(out, model.Pods, s.Pods, func(r *model.Pod) string { return r.Revision })
	raise(out, model.Nodes, s.Nodes, func(r *model.Node) string { return r.Revision })
	raise(out, model.Blocks, s.Blocks, func(r *model.Block) string { return r.Revision })
	raise(out, model.Handles, s.Handles, func(r *model.Handle) string { return r.Revision })
}

func raise[T any](out map[model.Table]uint64, t model.Table, rows []T, revision func(*T) string) {
	if out[t] == 0 {
		return
	}
	for i := range rows {
		if n, err := strconv.ParseUint(revision(&rows[i]), 10, 64); err == nil {
			out[t] = max(out[t], n)
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
