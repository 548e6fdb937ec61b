// Package eventlog is the event log of a node: changes of node state that the agent recorded, and
// CNI calls that the guard recorded. Its size is bounded. Every line has a checksum, so that what a
// crash leaves behind can be read; a line with a wrong checksum is ignored.
package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
)

// An Entry is one event.
type Entry struct {
	At   time.Time       `json:"at"` // by the node's clock
	Boot string          `json:"boot,omitempty"`
	By   string          `json:"by"`             // agent, guard
	What string          `json:"what"`           // new, changed or gone; for a CNI call its command
	Of   string          `json:"of"`             // name of the table, or cni
	Name string          `json:"name"`           // of the row
	Was  json.RawMessage `json:"was,omitempty"`  // the row before
	Now  json.RawMessage `json:"now,omitempty"`  // the row after
	Note string          `json:"note,omitempty"` // error
	// Port is the netlink port of who changed a route, an address or a neighbour entry; Writer names
	// the process, or what took the row away. Empty: that is unknown.
	Port   uint32 `json:"port,omitempty"`
	Writer string `json:"writer,omitempty"`
}

// Bounds of a log: it uses at most segments x segmentSize bytes of the disk.
const (
	segmentSize = 1 << 20
	segments    = 16
	maxLine     = 64 << 10
)

const (
	lockFile = "lock"
	turn     = 2 * time.Second
	retry    = 2 * time.Millisecond
)

// A Record is an event log: a directory of numbered segments. Several processes may append to one:
// one at a time, to the newest segment, whoever began it.
type Record struct {
	dir string

	mu   sync.Mutex // guards the fields below
	file *os.File   // segment last, open for appending
	size int64      // bytes in it
	last int        // number of the newest segment
}

// Open creates the directory if needed and continues its newest segment; after a segment of
// another version it starts the next one.
func Open(dir string) (*Record, error) {
	if err := create(dir); err != nil {
		return nil, fmt.Errorf("open event log: %w", err)
	}
	r := &Record{dir: dir}
	if err := r.alone(r.newest); err != nil {
		return nil, err
	}
	return r, nil
}

// alone does something while no other process appends or begins a segment. A process that holds
// the lock and stands still holds nobody up for longer than turn.
func (r *Record) alone(do func() error) error {
	lock, err := os.OpenFile(filepath.Join(r.dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open event log: %w", err)
	}
	defer func() { _ = lock.Close() }()
	// Not hostfile.Lock: what waits in the kernel for a process that stands still costs a thread each.
	for waited := time.Duration(0); ; waited += retry {
		err := hostfile.TryLock(lock)
		if err == nil {
			return do()
		}
		if !errors.Is(err, hostfile.ErrLocked) || waited >= turn {
			return fmt.Errorf("lock event log: %w", err)
		}
		time.Sleep(retry)
	}
}

// newest opens the newest segment.
func (r *Record) newest() error {
	all, err := list(r.dir)
	if err != nil {
		return err
	}
	last := 0
	if len(all) > 0 {
		newest := all[len(all)-1]
		if last = newest.number; !r.current(newest.name) {
			last++
		}
	}
	old := r.file
	was := r.last
	r.last = last
	if err := r.open(); err != nil {
		r.last = was
		return err
	}
	if old != nil {
		_ = old.Close()
	}
	return nil
}

// follow goes on where another process is: it may have begun a segment, and removed this one.
func (r *Record) follow() error {
	if _, err := os.Lstat(r.path(r.last + 1)); err == nil {
		return r.newest()
	}
	here, err := r.file.Stat()
	if err != nil {
		return fmt.Errorf("write event log: %w", err)
	}
	if named, err := os.Lstat(r.path(r.last)); err != nil || !os.SameFile(here, named) {
		return r.newest()
	}
	r.size = here.Size()
	return nil
}

func (r *Record) open() error {
	f, err := os.OpenFile(r.path(r.last), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open event log: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file, r.size = f, st.Size()
	return r.endLine()
}

// endLine ends a line that a crash left incomplete, so that the next one begins on its own line.
func (r *Record) endLine() error {
	if r.size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := r.file.ReadAt(last, r.size-1); err != nil {
		return fmt.Errorf("open event log: %w", err)
	}
	if last[0] == '\n' {
		return nil
	}
	n, err := r.file.Write([]byte{'\n'})
	r.size += int64(n)
	return err
}

func (r *Record) path(n int) string { return filepath.Join(r.dir, fmt.Sprintf("%08d%s", n, suffix)) }

// Append writes entries, each as one line in one write; the first of a segment with the heading.
func (r *Record) Append(entries ...Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alone(func() error { return r.append(entries) })
}

func (r *Record) append(entries []Entry) error {
	if err := r.follow(); err != nil {
		return err
	}
	for i := range entries {
		text, err := encode(&entries[i])
		if err != nil {
			return err
		}
		if r.size+int64(len(text)) > segmentSize {
			if err := r.next(); err != nil {
				return err
			}
		}
		if r.size == 0 {
			text = append(slices.Clone(header), text...)
		}
		n, err := r.file.Write(text)
		r.size += int64(n)
		if err != nil {
			if n > 0 { // the disk is full: end the incomplete line
				err = errors.Join(err, r.endLine())
			}
			return fmt.Errorf("write event log: %w", err)
		}
	}
	return nil
}

// next starts a segment and removes the oldest ones beyond segments.
func (r *Record) next() error {
	old, size := r.file, r.size
	r.last++
	if err := r.open(); err != nil { // continue with the old segment
		r.file, r.size = old, size
		r.last--
		return err
	}
	_ = old.Close()
	all, err := list(r.dir)
	if err != nil {
		return err
	}
	for len(all) > segments {
		if err := os.Remove(filepath.Join(r.dir, all[0].name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		all = all[1:]
	}
	return nil
}

// Close closes the newest segment.
func (r *Record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}

func encode(e *Entry) ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write event log: %w", err)
	}
	if len(b) > maxLine {
		short := *e
		short.Was, short.Now, short.Note = nil, nil, "entry too long; only its name was recorded"
		if b, err = json.Marshal(&short); err != nil {
			return nil, err
		}
	}
	return line(b), nil
}

func line(b []byte) []byte { return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(b), b) }
