package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// maxTail is how much one read of a logTail takes from a file or journal.
const maxTail = 4 << 20

// A logTail follows the log of one component as it is written: files and journals. It begins
// with what is written after its first read.
type logTail struct {
	root   string
	source string
	places []LogPlace
	now    func() time.Time

	last time.Time        // of the last read; zero before the first
	any  bool             // there is a log: a journal is listed only when it was written to
	at   map[uint64]int64 // by inode: up to where a file was read
}

func newLogTail(root, source string, more []LogPlace, now func() time.Time) *logTail {
	t := &logTail{root: root, source: source, now: now, at: map[uint64]int64{}}
	for _, p := range logPlaces(more, "") {
		if p.Source == source {
			t.places = append(t.places, p)
		}
	}
	return t
}

// read hands out the lines since the last read. It fails if there is no log, or if a part of
// it was not read.
func (t *logTail) read(ctx context.Context, each func(line []byte)) error {
	began := t.now()
	files, missing := t.files()
	journals := t.journals(ctx, &missing)
	t.any = t.any || len(files)+len(journals) > 0
	var errs []error
	at := map[uint64]int64{}
	for i := range files {
		f := &files[i]
		from, known := t.at[f.inode]
		switch {
		case t.last.IsZero():
			from = f.size
		case !known || f.size < from: // new, or emptied
			from = 0
		}
		end, err := t.file(ctx, f, from, each)
		at[f.inode] = end
		errs = append(errs, err)
	}
	if !t.last.IsZero() {
		for i := range journals {
			errs = append(errs, t.journal(ctx, &journals[i], each))
		}
	}
	t.at, t.last = at, began
	for _, word := range missing.words {
		errs = append(errs, errors.New(word))
	}
	err := errors.Join(errs...)
	switch {
	case !t.any:
		return fmt.Errorf("no %s log: neither %s nor a journal: set --log", t.source, pathsOf(t.places, t.source))
	case err != nil:
		return fmt.Errorf("%s log: %w: %w", t.source, err, observe.ErrPartial)
	}
	return nil
}

// files are those that are not packed: what is packed was read before.
func (t *logTail) files() (out []logFile, missing logMissing) {
	for _, p := range t.places {
		files, err := p.list(t.root, &missing)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			missing.say("%s: %v", p.Source, err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.name, ".gz") {
				out = append(out, f)
			}
		}
	}
	return out, missing
}

// journals are those that were written to since the last read.
func (t *logTail) journals(ctx context.Context, missing *logMissing) (out []logFile) {
	for _, top := range journalDirs {
		ids, err := names(t.root, top)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			missing.say("journal: %v", err)
		}
		for _, id := range ids {
			if machineID.MatchString(id) {
				out = append(out, journalsOf(ctx, t.root, path.Join(top, id), []string{t.source}, t.last, missing)...)
			}
		}
	}
	return out
}

func (t *logTail) file(ctx context.Context, f *logFile, from int64, each func([]byte)) (end int64, err error) {
	if from == f.size {
		return from, nil
	}
	in, err := f.open(ctx, time.Time{})
	if err != nil {
		return from, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	at, ok := in.(io.ReaderAt)
	if !ok {
		return from, errNoFile
	}
	start := max(from, f.size-maxTail)
	if start > from {
		err = fmt.Errorf("%s: of %d new bytes the last %d were read", f.name, f.size-from, maxTail)
	}
	text, broken := io.ReadAll(io.NewSectionReader(at, start, f.size-start))
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the rest of a line is for the next time
	for line := range bytes.Lines(text) {
		each(line)
	}
	return start + int64(len(text)), errors.Join(err, broken)
}

func (t *logTail) journal(ctx context.Context, f *logFile, each func([]byte)) (err error) {
	in, err := f.open(ctx, t.last)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	left := int64(maxTail)
	return lines(&meter{ctx: ctx, in: in, left: &left}, false, func(_ uint32, line []byte, _ bool) { each(line) })
}
