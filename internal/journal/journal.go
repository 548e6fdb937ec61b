// Package journal keeps what became of a plan, so that a crash at any moment leaves enough
// to go on or to take it back. An intent is on the disk before the world is changed.
//
// Of a plan there is one directory, STATE/plumbline/CLUSTER/PLAN: plan.json, which never
// changes, and log, to which records are only appended. It gets its name when both are on
// the disk: there is no half journal.
package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"plumbline.dev/plumbline/internal/repair"
)

// What a journal can say besides yes.
var (
	ErrExists = errors.New("the plan has a journal already")
	ErrInUse  = errors.New("another process writes this journal")
	// ErrDisk means that an earlier record may not have reached the disk. After a failed
	// fsync the kernel may hold for written what is lost; asking again proves nothing.
	ErrDisk = errors.New("the journal cannot be trusted any more: an earlier record did not reach the disk")
)

// A disk is what a log is written to.
type disk interface {
	io.Writer
	io.ReaderAt
	Sync() error
	Truncate(size int64) error
	Close() error
}

// A Journal is open for appending, by this process alone.
type Journal struct {
	dir string

	mu   sync.Mutex
	file disk
	content
	broken error
}

// Append writes the entry. When it returns without an error, the entry is on the disk. A
// journal that could not write one takes no other: open it again.
func (j *Journal) Append(e repair.Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return fmt.Errorf("append to journal %s: %w", j.dir, j.broken)
	}
	record, kept, err := entryRecord(j.seq, &e)
	if err != nil {
		return fmt.Errorf("append to journal %s: step %d: %w", j.dir, e.Step, err)
	}
	if j.size+int64(len(record)) > room(e.Outcome) {
		return fmt.Errorf("append to journal %s: step %d: it is full (%d bytes)", j.dir, e.Step, j.size)
	}
	if err := j.write(record); err != nil {
		// Nobody may take a record for kept that may be gone tomorrow.
		err = errors.Join(err, j.file.Truncate(j.size))
		j.broken = fmt.Errorf("%w: %w", ErrDisk, err)
		return fmt.Errorf("append to journal %s: step %d: %w", j.dir, e.Step, j.broken)
	}
	j.size += int64(len(record))
	j.seq++
	j.entries = append(j.entries, kept)
	return nil
}

func (j *Journal) write(record []byte) error {
	if _, err := j.file.Write(record); err != nil {
		return err
	}
	return j.file.Sync()
}

// entryRecord gives the record of an entry, and the entry as it will be read again.
func entryRecord(seq uint32, e *repair.Entry) (record []byte, kept repair.Entry, err error) {
	record, text, err := frame(seq, e)
	if err == nil {
		err = strictly(text, &kept)
	}
	return record, kept, err
}

// room is how large the log may become: what is begun must find room to be ended.
func room(o repair.Outcome) int64 {
	if o == repair.Intent {
		return maxLog - 8*int64(maxFrame)
	}
	return maxLog
}

// Entries gives all that was written, the oldest first.
func (j *Journal) Entries() []repair.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// Plan gives the plan that the journal is of.
func (j *Journal) Plan() *repair.Plan { return j.plan }

// Path is the journal's directory.
func (j *Journal) Path() string { return j.dir }

// Torn is how many bytes of an unfinished record were cut off when it was opened.
func (j *Journal) Torn() int64 { return j.torn }

// Close lets others have it. All that was appended is on the disk already.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.broken, os.ErrClosed) {
		return nil
	}
	j.broken = os.ErrClosed
	return j.file.Close()
}
