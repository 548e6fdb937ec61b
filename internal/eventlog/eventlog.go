// Package eventlog is the record of what happened on a node: what changed, who was asked
// what. The agent and the guard write the same lines. It is bounded, and whatever a
// crash leaves behind can be read: a line counts only with its checksum.
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
	"strconv"
	"strings"
	"sync"
	"time"
)

// An Entry is one thing that happened.
type Entry struct {
	At   time.Time       `json:"at"` // by the node's clock
	Boot string          `json:"boot,omitempty"`
	By   string          `json:"by"`             // agent, guard
	What string          `json:"what"`           // new, changed, gone; for a call its command
	Of   string          `json:"of"`             // the table, or cni
	Name string          `json:"name"`           // of the row
	Was  json.RawMessage `json:"was,omitempty"`  // the row before
	Now  json.RawMessage `json:"now,omitempty"`  // the row after
	Note string          `json:"note,omitempty"` // what went wrong
}

// Bounds of a record: it takes no more than segments x segmentSize of the disk.
const (
	segmentSize = 1 << 20
	segments    = 16
	maxLine     = 64 << 10
	suffix      = ".flight"
)

// A Record is a directory of segments. Several processes may append to one.
type Record struct {
	dir string

	mu   sync.Mutex
	file *os.File
	size int64
	last int
}

// Open makes the directory if it is not there and continues its newest segment.
func Open(dir string) (*Record, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open flight record: %w", err)
	}
	r := &Record{dir: dir}
	numbers, err := list(dir)
	if err != nil {
		return nil, err
	}
	if len(numbers) > 0 {
		r.last = numbers[len(numbers)-1]
	}
	return r, r.open()
}

func (r *Record) open() error {
	f, err := os.OpenFile(r.path(r.last), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open flight record: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file, r.size = f, st.Size()
	return r.endLine()
}

// endLine ends what a crash left half written, so that the next line is whole.
func (r *Record) endLine() error {
	if r.size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := r.file.ReadAt(last, r.size-1); err != nil {
		return fmt.Errorf("open flight record: %w", err)
	}
	if last[0] == '\n' {
		return nil
	}
	n, err := r.file.Write([]byte{'\n'})
	r.size += int64(n)
	return err
}

func (r *Record) path(n int) string { return filepath.Join(r.dir, fmt.Sprintf("%08d%s", n, suffix)) }

// Append writes entries, each as one line in one write.
func (r *Record) Append(entries ...Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range entries {
		line, err := encode(&entries[i])
		if err != nil {
			return err
		}
		if r.size+int64(len(line)) > segmentSize {
			if err := r.next(); err != nil {
				return err
			}
		}
		n, err := r.file.Write(line)
		r.size += int64(n)
		if err != nil {
			if n > 0 { // a full disk took half a line: the next must not be taken with it
				err = errors.Join(err, r.endLine())
			}
			return fmt.Errorf("write flight record: %w", err)
		}
	}
	return nil
}

// next begins a segment and removes the oldest.
func (r *Record) next() error {
	old, size := r.file, r.size
	r.last++
	if err := r.open(); err != nil { // the old one serves until a new one can be had
		r.file, r.size = old, size
		r.last--
		return err
	}
	_ = old.Close()
	numbers, err := list(r.dir)
	if err != nil {
		return err
	}
	for len(numbers) > segments {
		if err := os.Remove(r.path(numbers[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		numbers = numbers[1:]
	}
	return nil
}

// Close ends writing.
func (r *Record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}

func encode(e *Entry) ([]byte, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("write flight record: %w", err)
	}
	if len(b) > maxLine {
		short := *e
		short.Was, short.Now, short.Note = nil, nil, "too long to be recorded"
		if b, err = json.Marshal(&short); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(b), b), nil
}

// list gives the numbers of the segments, the oldest first.
func list(dir string) ([]int, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read flight record: %w", err)
	}
	var out []int
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), suffix)
		if n, err := strconv.Atoi(name); ok && err == nil && n >= 0 {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}
