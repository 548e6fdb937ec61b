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
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	tick     = time.Second
	farewell = 5 * time.Second // for running work when the daemon is stopped
)

// A daemon is the guard daemon of one node. Each worker owns one of install, drain and tend;
// mu guards the fields below it, which workers share.
type daemon struct {
	environment
	tree hostfile.Root
	dir  string // the guard's directory, as a path of this container
	db   *ownerdb.DB

	install installState
	drain   drain
	tend    tend

	mu     sync.Mutex
	report guard.Report
	stage  stage
	since  map[string]time.Time // start of the current run, of each worker that runs
	told   told
}

// A stage is what the installation found, for the other workers.
type stage struct {
	on      bool // the runtime has loaded the guard, and the mode is not off
	mode    guard.Mode
	network string
	ifName  string
	binDirs []string
	file    string // the network's configuration, as a path of this container
	program program
}

// newDaemon returns the guard daemon of a node. It creates the guard's directory if it does not
// exist.
func newDaemon(w environment) (*daemon, error) {
	k := &daemon{environment: w, tree: hostfile.Root(w.Root), since: map[string]time.Time{}}
	if _, err := k.tree.MakeDir(path.Dir(guard.Dir), 0o755); err != nil {
		return nil, fmt.Errorf("create the guard's directory: %w", err)
	}
	dir, err := k.tree.MakeDir(guard.Dir, 0o755)
	if err != nil {
		return nil, fmt.Errorf("create the guard's directory: %w", err)
	}
	k.dir = k.tree.Path(dir)
	if k.db, err = ownerdb.Open(k.file(guard.OwnersDir)); err != nil {
		return nil, err
	}
	if k.Answers == nil {
		k.Answers = k.asked
	}
	k.remember()
	return k, nil
}

func (k *daemon) file(name string) string { return path.Join(k.dir, name) }

// remember reads the state of the previous guard daemon: the counters since boot and the
// mode in force.
func (k *daemon) remember() {
	var was guard.Report
	if raw, err := hostfile.ReadFollow(k.file(guard.StatusFile), maxStatus); err == nil && json.Unmarshal(raw, &was) == nil && was.Schema <= guard.ReportSchema {
		k.report.Put, k.report.GC = was.Put, was.GC
	}
	k.report.Node = k.Node
	k.install.mode = guard.Off
	for _, file := range []string{k.lastMode(), k.file(guard.ModeFile)} {
		if raw, err := hostfile.ReadFollow(file, maxMode); err == nil {
			if m, err := parseMode(string(raw)); err == nil {
				k.install.mode = m
			}
		}
	}
	k.drain.remember(k.file(drainedFile))
	k.report.Tally = k.drain.Count.tally(k.Now())
}

// Run runs the guard daemon until the context ends. Each worker has its own goroutine: one
// that hangs, for example on a disk, does not delay the others.
func (k *daemon) Run(ctx context.Context) error {
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
		k.goodbye()
		return nil
	case <-time.After(farewell):
		return errors.New("a worker of the guard daemon did not stop within 5s")
	}
}

// step runs one worker every tick.
func (k *daemon) step(ctx context.Context, name string, do func(context.Context)) {
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
func (k *daemon) say(change func(r *guard.Report)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.report)
}

func (k *daemon) set(s stage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stage = s
}

func (k *daemon) at() stage {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stage
}
