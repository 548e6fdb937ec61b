package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/ownerdb"
)

const (
	tick     = time.Second
	farewell = 5 * time.Second // for what is under way when we are to end
)

// A Daemon looks after one node's guard.
type Daemon struct {
	World
	tree tree
	dir  string // the guard's, as we see it
	db   *ownerdb.DB

	observe look
	drain   drain
	tend    tend

	mu     sync.Mutex
	report guard.Report
	stage  stage
	since  map[string]time.Time // of workers that are at work
	told   told
}

// A stage is what the installation found, for those who work with it.
type stage struct {
	on      bool // the guard is in what the runtime has loaded, and not off
	network string
	ifName  string
	binDirs []string
	file    string // of the network's configuration, as we see it
	program program
}

// New makes the keeper of a node. It makes the guard's directory if it is not there.
func New(w World) (*Daemon, error) {
	k := &Daemon{World: w, tree: tree(w.Root), since: map[string]time.Time{}}
	if _, err := k.tree.dir(path.Dir(guard.Dir), 0o755); err != nil {
		return nil, fmt.Errorf("make the guard's directory: %w", err)
	}
	dir, err := k.tree.dir(guard.Dir, 0o755)
	if err != nil {
		return nil, fmt.Errorf("make the guard's directory: %w", err)
	}
	k.dir = k.tree.seen(dir)
	if k.db, err = ownerdb.Open(k.file(guard.OwnersDir)); err != nil {
		return nil, err
	}
	k.remember()
	return k, nil
}

func (k *Daemon) file(name string) string { return path.Join(k.dir, name) }

// remember takes up what the last keeper said: how often things happened since the boot,
// and which mode is in force.
func (k *Daemon) remember() {
	var was guard.Report
	if raw, err := read(k.file(guard.StatusFile), maxStatus); err == nil && json.Unmarshal(raw, &was) == nil {
		k.report.Put, k.report.GC = was.Put, was.GC
	}
	k.report.Node = k.Node
	k.observe.mode = guard.Off
	if raw, err := read(k.file(guard.ModeFile), maxMode); err == nil {
		if m, err := parseMode(string(raw)); err == nil {
			k.observe.mode = m
		}
	}
	k.drain.remember(k.file(drainedFile))
	k.report.Tally, k.report.Keyed = k.drain.Count.tally(k.Now()), k.drain.Count.Keyed
}

// Run keeps the guard until it is told to end. Each of its works has its own time: what
// hangs in one, be it a disk, holds up none of the others.
func (k *Daemon) Run(ctx context.Context) error {
	release, err := k.alone(ctx)
	if err != nil {
		return err
	}
	defer release()
	var all sync.WaitGroup
	for name, work := range map[string]func(context.Context){"install": k.installs, "drain": k.drains, "tend": k.tends, "tell": k.tells} {
		all.Go(func() { k.step(ctx, name, work) })
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	<-ctx.Done()
	select {
	case <-ended:
		return nil
	case <-time.After(farewell):
		return errors.New("something that was under way does not come to its end")
	}
}

// step does one thing again and again.
func (k *Daemon) step(ctx context.Context, name string, do func(context.Context)) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		k.mu.Lock()
		k.since[name] = k.Now()
		k.mu.Unlock()
		do(ctx)
		k.mu.Lock()
		delete(k.since, name)
		k.mu.Unlock()
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}

// say changes the report.
func (k *Daemon) say(change func(r *guard.Report)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.report)
}

func (k *Daemon) set(s stage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stage = s
}

func (k *Daemon) at() stage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stage
}
