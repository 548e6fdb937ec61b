package server

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/agent/door"
	"plumbline.dev/plumbline/internal/host"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// Config is the configuration of an agent.
type Config struct {
	Node       string
	Version    string
	Collectors []observe.NodeCollector
	// Watch are functions that report changes as they happen.
	Watch []func(ctx context.Context, changed func(tables ...model.Table)) error
	// Kernel listens to the kernel; nil: who changes something stays unknown.
	Kernel func(ctx context.Context, to kernel.Listener) error
	// Process names the process behind a netlink port that wrote to an interface; empty: it is unknown.
	Process func(ctx context.Context, port uint32, link int) string
	// Calls returns the running CNI calls.
	Calls  func(ctx context.Context) ([]model.Process, error)
	Lock   func() (host.IPAMLock, error) // who waits for Calico's IPAM lock; nil: that stays unknown
	Writer *NodeWriter                   // nil: the agent only reads
	Review door.Reviewer                 // nil: only root on the node is admitted
	Lease  Lease                         // nil: the identity is not published, and no repair accepts verifications
	Record string                        // directory of the event log; empty for none
	Logs   Logs
	Log    *slog.Logger
	Now    func() time.Time
}

// A Server is the agent of one node.
type Server struct {
	node   string
	reader *observe.NodeReader
	store  *store
	watch  []func(ctx context.Context, changed func(tables ...model.Table)) error
	calls  func(ctx context.Context) ([]model.Process, error)
	door   *door.Door
	key    ed25519.PrivateKey // of the verifications, since this start
	cert   tls.Certificate    // of the listener, since this start
	record string
	log    *slog.Logger
	now    func() time.Time

	pollers []*poller
	entries chan change
	writers *writers
	lost    atomic.Int64 // events that were not written
	lease   Lease
	names   []string // that Calico has used for the node in this boot; owned by keepPublished

	lineage *lineage
	asked   atomic.Bool   // for tables, since the Lease was last read
	due     time.Duration // observe.Uptime at which it is read; 0: not decided; owned by keepPublished

	writer *NodeWriter
	read   func(ctx context.Context, ref model.Ref, args map[string]string) (*readState, error) // of an object that can be changed
	verbs  map[string]verb
	turn   chan struct{} // holds one element while a change is made

	logs        *logReader
	guard       *turn // to read the guard daemon's report
	serveEvents *turn // to read the event log
	lockTurn    *turn // to look at the IPAM lock
	lock        func() (host.IPAMLock, error)
	watchers    chan struct{}
	root        string
}

// How long one collector may take before its read counts as hung; on a node that is slow or
// overloaded, where it takes long again and again, up to the second.
const (
	collectorWithin = 2500 * time.Millisecond
	collectorMost   = 10 * time.Second
)

// New returns an agent; nothing is read before Run.
func New(c Config) *Server {
	line := newLineage(c.Record, c.Log)
	collectors := slices.Clone(c.Collectors)
	for i := range collectors {
		if slices.Contains(collectors[i].Tables, model.Machines) {
			collectors[i] = line.into(collectors[i], c.Now)
		}
	}
	s := &Server{
		lineage: line,
		node:    c.Node, watch: c.Watch, calls: c.Calls, record: c.Record, log: c.Log, now: c.Now,
		reader:  &observe.NodeReader{Node: c.Node, Within: collectorWithin, Most: collectorMost, Collectors: collectors},
		entries: make(chan change, 4096), writers: newWriters(c.Process, c.Now),
		writer: c.Writer, turn: make(chan struct{}, 1), key: newKey(), cert: newCertificate(c.Node, c.Now()), lease: c.Lease,
	}
	s.verbs, s.read = verbsOf(s), c.Writer.reread
	s.store = newStore(c.Node, c.Version, s.note)
	s.door = door.New(c.Review, c.Node, door.Right{Group: agent.Group, Resource: agent.Resource, Name: c.Node}, c.Now)
	s.logs = newLogReader(&c)
	s.watchers = make(chan struct{}, maxWatchers)
	s.guard, s.serveEvents, s.root = newTurn(), newTurn(), c.Logs.Root
	s.lock, s.lockTurn = c.Lock, newTurn()
	if c.Kernel != nil {
		s.watch = append(slices.Clone(s.watch), func(ctx context.Context, changed func(...model.Table)) error {
			return c.Kernel(ctx, kernel.Listener{Changed: func(_ uint64, tables ...model.Table) { changed(tables...) }, Heard: s.writers.hear, Listens: s.writers.listens})
		})
	}
	for _, collector := range collectors {
		s.pollers = append(s.pollers, newPoller(s, collector))
	}
	return s
}

// note queues a log entry for a change that was observed. If the queue is full the entry is
// lost: logging never delays reading.
func (s *Server) note(c change) {
	select {
	case s.entries <- c:
	default:
		s.lost.Add(1)
	}
}

// Run keeps the tables current until ctx ends.
func (s *Server) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, k := range s.pollers {
		wg.Go(func() { k.run(ctx) })
	}
	for _, watch := range s.watch {
		wg.Go(func() { s.follow(ctx, watch) })
	}
	wg.Go(func() { s.writers.run(ctx) })
	wg.Go(func() { s.write(ctx) })
	wg.Go(func() { s.keepPublished(ctx) })
	wg.Wait()
}

// follow runs a watch; when it ends it is restarted after a second, and all tables are
// reread.
func (s *Server) follow(ctx context.Context, watch func(context.Context, func(...model.Table)) error) {
	said := ""
	for ctx.Err() == nil {
		err := watch(ctx, s.changed)
		if ctx.Err() != nil {
			return
		}
		if text := fmt.Sprint(err); text != said { // log once, not every second
			s.log.Warn("a watch ended: all tables are reread every second until it works again", "error", err)
			said = text
		}
		s.changed(model.FactTables()...)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// changed wakes the pollers of the tables.
func (s *Server) changed(tables ...model.Table) {
	for _, k := range s.pollers {
		if k.keeps(tables) {
			k.rouse()
		}
	}
}

// refresh rereads tables concurrently and returns those that were not reread in time, with
// that time.
func (s *Server) refresh(ctx context.Context, tables ...model.Table) map[model.Table]time.Duration {
	late := map[model.Table]time.Duration{}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, k := range s.pollers {
		if len(tables) > 0 && !k.keeps(tables) {
			continue
		}
		wg.Go(func() {
			limit := s.reader.Tempo(k.collector.Name).Limit(freshWithin, freshMost)
			ctx, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			if k.again(ctx) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, t := range k.collector.Tables {
				late[t] = limit
			}
		})
	}
	wg.Wait()
	return late
}

// snapshotOf reads everything once, without caching.
func snapshotOf(ctx context.Context, node, version string, now time.Time, collectors ...observe.NodeCollector) *model.Snapshot {
	reader := &observe.NodeReader{Node: node, Within: collectorWithin, Most: collectorMost, Collectors: collectors}
	f, seen := reader.Read(ctx)
	model.Join(f.Attachments, f.Sandboxes)
	return &model.Snapshot{
		Meta:      model.Meta{Schema: model.Schema, Taken: model.At(now), Version: version},
		NodeState: map[string]*model.NodeState{node: f}, Coverage: seen,
	}
}
