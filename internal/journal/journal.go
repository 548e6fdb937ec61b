// Package journal stores the progress of a plan, so that a crash at any moment leaves enough
// to continue or undo it. Invariant: an Intent is on disk before its write is sent.
//
// A plan has one directory, STATE/plumbline/CLUSTER/PLAN, with plan.json, which never
// changes, and log, which is only appended to. The directory is created under a temporary
// name and renamed when both files are on disk: there is no partial journal.
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

// Errors of a journal.
var (
	ErrExists = errors.New("the plan already has a journal")
	errInUse  = errors.New("another process has this journal open")
	// errDisk means that an earlier record may not be on disk. After a failed fsync the kernel
	// may report lost data as written; a second fsync proves nothing.
	errDisk = errors.New("the journal is not reliable any more: an earlier record was not written to disk")
)

// A disk is the file of a log.
type disk interface {
	io.Writer
	io.ReaderAt
	Sync() error
	Truncate(size int64) error
	Close() error
}

// A Journal is open for appending, by this process only (lock).
type Journal struct {
	dir string

	mu   sync.Mutex // guards all below, except plan, which does not change
	file disk
	content
	broken error // set after a failed append or Close: all later appends fail with it
}

// Append writes an entry. When it returns nil the entry is on disk. After an error of the disk
// all later appends fail: open the journal again.
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
		return fmt.Errorf("append to journal %s: step %d: the journal is full (%d bytes)", j.dir, e.Step, j.size)
	}
	if err := j.write(record); err != nil {
		// Cut the record off: it must not be read as written if it may be lost later.
		err = errors.Join(err, j.file.Truncate(j.size))
		j.broken = fmt.Errorf("%w: %w", errDisk, err)
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

// entryRecord gives the record of an entry, and the entry as it will be decoded.
func entryRecord(seq uint32, e *repair.Entry) (record []byte, kept repair.Entry, err error) {
	record, text, err := frame(seq, e)
	if err == nil {
		err = strictly(text, &kept)
	}
	return record, kept, err
}

// room is the size limit of the log. It is lower for an Intent, so that its outcome always fits.
func room(o repair.Outcome) int64 {
	if o == repair.Intent {
		return maxLog - 8*int64(maxFrame)
	}
	return maxLog
}

// Entries gives all entries, the oldest first.
func (j *Journal) Entries() []repair.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// Plan gives the plan of the journal.
func (j *Journal) Plan() *repair.Plan { return j.plan }

// Path is the journal's directory.
func (j *Journal) Path() string { return j.dir }

// Torn is the number of bytes of an incomplete record that were cut off when it was opened.
func (j *Journal) Torn() int64 { return j.torn }

// Close releases the lock. All appended entries are already on disk.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.broken, os.ErrClosed) {
		return nil
	}
	j.broken = os.ErrClosed
	return j.file.Close()
}
