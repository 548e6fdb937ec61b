package plugin

import (
	"io"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/ownerdb"
)

// How long a delegate may take in enforce: less than the kubelet waits, which is four minutes for
// an ADD and two for anything else. Otherwise the call ends as it would without a guard.
const (
	patience    = 100 * time.Second
	addPatience = 230 * time.Second
)

// maxConfig is the longest configuration that is read, in bytes.
const maxConfig = 8 << 20

// A World is what the plugin gets from its process.
type World struct {
	Env            []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Now            func() time.Time
	Program        string // path of this program
	Dir            string // directory of the guard
	LastMode       string // file with the last configured mode
	Proc           string // procfs

	patience    time.Duration
	addPatience time.Duration
	open        func(dir string) (ownerDB, error)
	boot        func() (time.Duration, error) // time since boot, which no clock setting changes
	reach       func(point string)            // for tests: they fail or stop here
}

// ownerDB is the ownership record; see package ownerdb.
type ownerDB interface {
	Begin(o guard.Owner) (guard.Owner, error)
	End(o guard.Owner) error
	Owner(k guard.Key) (*guard.Owner, error)
	All() ([]guard.Owner, error)
	Newest(n guard.Name) (*guard.Owner, error)
	Queue(l guard.QueuedDel) error
	Unqueue(k guard.Key) error
	Queued() ([]guard.QueuedDel, error)
	IsQueued(l guard.QueuedDel) bool
	Postpone(l guard.QueuedDel, rest bool, now int64) error
	Replayed(l guard.QueuedDel) error
	Deleting(n guard.Name, d ownerdb.Deleter) error
	Deleters(n guard.Name) ([]ownerdb.Deleter, error)
}

func (w *World) withDefaults() {
	if w.Dir == "" {
		w.Dir = guard.Dir
	}
	if w.LastMode == "" {
		w.LastMode = guard.LastModeFile
	}
	if w.Proc == "" {
		w.Proc = "/proc"
	}
	if w.patience == 0 {
		w.patience = patience
	}
	if w.addPatience == 0 {
		w.addPatience = addPatience
	}
	if w.open == nil {
		w.open = func(dir string) (ownerDB, error) { return ownerdb.Open(dir) }
	}
	if w.boot == nil {
		w.boot = sinceBoot
	}
	if w.reach == nil {
		w.reach = func(string) {}
	}
}
