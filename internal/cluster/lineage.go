package cluster

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	noticed  []model.Restored     // by an earlier run elsewhere

	mu     sync.Mutex
	guid   string
	is     revisions
	listed map[model.Table]uint64 // by this run
	kept   model.Time             // when it was last written into the file
}

// newLineage recalls what earlier runs kept. It must be called before the cluster is read: what a run that goes on at the
// same time reads later must not make this one look restored.
func newLineage(o *Options) *lineage {
	l := &lineage{recalled: map[string]revisions{}, noticed: o.Restored}
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
	Version  int                       `json:"version"`
	Of       map[model.Table]seen      `json:"of"`
	Restored map[string]model.Restored `json:"restored,omitempty"` // by store
	// Server and Datastore are what was read: nothing is compared with another API server that has the same GUID, such as
	// one that was made from a backup, or after a migration of Calico's records.
	Server    string     `json:"server"`
	Datastore string     `json:"datastore"`
	At        model.Time `json:"at"`
}

// seen is the highest revision of a table, and when it was read.
type seen struct {
	Revision uint64     `json:"revision"`
	At       model.Time `json:"at"`
}

// compared are the tables whose revisions say how far a datastore has come: they are there on every cluster, and change all
// the time. Events may be in an etcd of their own, which nobody backs up; where one object is the whole table its revision is
// that of its last change.
var compared = []model.Table{model.Pods, model.Nodes, model.Blocks, model.Handles}

// keepEvery is how often a run that goes on and on writes the file.
const keepEvery = 5 * time.Second

const (
	revisionsVersion = 1
	revisionsName    = "revisions.json"
	maxRevisions     = 1 << 20
	maxClusters      = 1000
)

// compare completes a snapshot with what is remembered.
func (l *lineage) compare(server string, s *model.Snapshot) {
	if l == nil || len(s.Info) != 1 || s.Meta.GUID == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.guid != s.Meta.GUID {
		l.guid, l.is, l.kept, l.listed = s.Meta.GUID, l.recalled[s.Meta.GUID], 0, map[model.Table]uint64{}
	}
	info := &s.Info[0]
	if l.is.Server != server || l.is.Datastore != info.Datastore {
		l.is = revisions{Version: revisionsVersion, Server: server, Datastore: info.Datastore}
	}
	now := revisions{Version: revisionsVersion, Server: server, Datastore: info.Datastore, At: s.Meta.Taken, Of: map[model.Table]seen{}, Restored: map[string]model.Restored{}}
	maps.Copy(now.Of, l.is.Of)
	for _, r := range slices.AppendSeq(slices.Clone(l.noticed), maps.Values(l.is.Restored)) { // what is kept here says more
		if r.Since > now.At { // the clock was ahead
			r.Since = now.At
		}
		if now.At.Sub(r.Since) < model.RestoredFor*time.Second {
			now.Restored[r.Store] = r
		}
	}
	l.takeLists(&now, s)
	now.follow(s)
	l.is = now
	info.Restored = nil
	for _, store := range []string{model.StoreKubernetes, model.StoreCalico} {
		if r, ok := now.Restored[store]; ok {
			info.Restored = append(info.Restored, r)
		}
	}
}

// takeLists compares the revisions of lists that are new with what was known before. A list is as new as everything that
// was known before it began.
func (l *lineage) takeLists(now *revisions, s *model.Snapshot) {
	lists := map[model.Table]uint64{}
	for _, c := range s.Coverage {
		n, err := strconv.ParseUint(c.Revision, 10, 64)
		if err == nil && c.State == model.Complete && slices.Contains(compared, c.Table) && l.listed[c.Table] != n { // else a watch goes on from it
			lists[c.Table], l.listed[c.Table] = n, n
		}
	}
	back := map[string]bool{}
	for _, t := range compared {
		n, was := lists[t], now.Of[t]
		if store := storeOf(t, now.Datastore); model.WentBack(was.Revision, n, int64(now.At.Sub(was.At)/time.Second)) {
			now.Restored[store] = model.Restored{Store: store, From: was.Revision, To: n, Since: now.At}
			back[store] = true
		}
	}
	for t := range now.Of { // what is known of a datastore that went back says nothing of the present one
		if back[storeOf(t, now.Datastore)] {
			delete(now.Of, t)
		}
	}
	for t, n := range lists {
		now.raise(t, n)
	}
}

// raise takes a revision that was read now.
func (r *revisions) raise(t model.Table, n uint64) {
	if n > r.Of[t].Revision {
		r.Of[t] = seen{n, r.At}
	}
}

// follow takes the revisions of rows: a watch has brought them since the list.
func (r *revisions) follow(s *model.Snapshot) {
	r.raise(model.Pods, newest(s.Pods, func(p *model.Pod) string { return p.Revision }))
	r.raise(model.Nodes, newest(s.Nodes, func(n *model.Node) string { return n.Revision }))
	r.raise(model.Blocks, newest(s.Blocks, func(b *model.Block) string { return b.Revision }))
	r.raise(model.Handles, newest(s.Handles, func(h *model.Handle) string { return h.Revision }))
}

func newest[T any](rows []T, revision func(*T) string) (out uint64) {
	for i := range rows {
		if n, err := strconv.ParseUint(revision(&rows[i]), 10, 64); err == nil {
			out = max(out, n)
		}
	}
	return out
}

// RecordsWentBack tells that Calico's datastore was restored between two reads of one cluster's IPAM records.
func RecordsWentBack(was, is *model.Snapshot) bool {
	seconds := int64(is.Meta.Taken.Sub(was.Meta.Taken) / time.Second)
	for _, t := range []model.Table{model.Blocks, model.Handles} {
		if model.WentBack(listed(was, t), listed(is, t), seconds) {
			return true
		}
	}
	return false
}

// listed is the revision of a table's list; 0 if it was not read.
func listed(s *model.Snapshot, t model.Table) uint64 {
	for _, c := range s.Coverage {
		if c.Table == t && c.Node == "" && c.State == model.Complete {
			n, _ := strconv.ParseUint(c.Revision, 10, 64) // 0 is unknown
			return n
		}
	}
	return 0
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
	if was := o.recallRevisions(l.guid); was.Server == is.Server && was.Datastore == is.Datastore && len(is.Restored) == 0 {
		is.Of = maps.Clone(is.Of)
		for t, n := range was.Of {
			if n.Revision > is.Of[t].Revision {
				is.Of[t] = n
			}
		}
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
