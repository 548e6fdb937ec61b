package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/observe"
)

// maxTail is how much one read of a logTail takes from a file or journal: the newest of a file.
const maxTail = 4 << 20

// mtimeLag is more than journald waits before a file's time shows what was written to it.
const mtimeLag = 2 * time.Second

// A logTail follows the kubelet's log as it is written: files and journals. It begins with what
// is written after its first read.
type logTail struct {
	root   string
	places []LogPlace
	units  []string // of the journal
	now    func() time.Time
	start  func() time.Time // when the kubelet started; zero: unknown

	last    time.Time // of the last read; zero before the first
	journal bool      // a journal has the kubelet's entries: it is listed only when it was written to
	at      map[uint64]tailed
}

// A tailed is how far a file was read.
type tailed struct {
	to     int64
	active bool   // it has the name of a log that is being written
	end    []byte // what stands before to: another text shows that the file was emptied and written anew
}

func newKubeletTail(root string, more []LogPlace, now, start func() time.Time) *logTail {
	t := &logTail{root: root, now: now, start: start, at: map[uint64]tailed{}}
	for _, p := range logPlaces(more, "") {
		if p.Source == "kubelet" {
			t.places = append(t.places, p)
		}
	}
	for _, u := range journalUnits["kubelet"] {
		if !strings.HasPrefix(u, "rke2-") { // its kubelet writes a file of its own
			t.units = append(t.units, u)
		}
	}
	return t
}

// read hands out the lines since the last read, and whether each was appended to what was read
// before: the lines of a new file may be copies of old ones. It fails if there is no log of the running
// kubelet, or if a part of it was not read.
func (t *logTail) read(ctx context.Context, each func(line []byte, appended bool)) error {
	began := t.now()
	files, missing := t.files()
	errs := []error{t.vanished(files)}
	journals := t.journals(ctx, &missing)
	t.journal = t.journal || len(journals) > 0
	next := map[uint64]tailed{}
	for i := range files {
		f := &files[i]
		is, err := t.file(ctx, f, each)
		is.active = isActive(f.name)
		next[f.inode] = is
		errs = append(errs, err)
	}
	if !t.last.IsZero() {
		for i := range journals {
			errs = append(errs, t.entries(ctx, &journals[i], each))
		}
	}
	t.at, t.last = next, began
	for _, word := range missing.words {
		errs = append(errs, errors.New(word))
	}
	err := errors.Join(errs...)
	switch {
	case !t.journal && !slices.ContainsFunc(files, t.isLive):
		return fmt.Errorf("no log of the running kubelet: neither %s nor a journal", pathsOf(t.places, "kubelet"))
	case err != nil:
		return fmt.Errorf("kubelet log: %w: %w", err, observe.ErrPartial)
	}
	return nil
}

// isLive reports whether a file was written to since the kubelet started: every kubelet writes when
// it starts, and a file of another one may have been left behind.
func (t *logTail) isLive(f logFile) bool {
	start := t.start()
	return start.IsZero() || !f.modified.Before(start.Add(-time.Minute))
}

// isActive reports whether a name is that of a log that is being written, not of a rotated one.
func isActive(name string) bool {
	m := rotated.FindStringSubmatch(path.Base(name))
	return m != nil && m[1] == path.Base(name)
}

var errVanished = errors.New("it was rotated and packed before its last lines were read")

// vanished reports a log that was being written at the last read and is no longer there.
func (t *logTail) vanished(files []logFile) error {
	for inode, was := range t.at {
		if was.active && !slices.ContainsFunc(files, func(f logFile) bool { return f.inode == inode }) {
			return errVanished
		}
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
	since := t.last
	if !since.IsZero() {
		since = since.Add(-mtimeLag)
	}
	for _, top := range journalDirs {
		ids, err := names(t.root, top)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			missing.say("journal: %v", err)
		}
		for _, id := range ids {
			if machineID.MatchString(id) {
				out = append(out, journalsOf(ctx, t.root, path.Join(top, id), map[string][]string{"kubelet": t.units}, since, missing)...)
			}
		}
	}
	return out
}

// file hands out the new lines of a file, and returns how far it was read.
func (t *logTail) file(ctx context.Context, f *logFile, each func([]byte, bool)) (is tailed, err error) {
	was := t.at[f.inode]
	if f.size == was.to && was.to > 0 {
		return was, nil
	}
	in, err := f.open(ctx, time.Time{})
	if err != nil {
		return was, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	at, ok := in.(io.ReaderAt)
	if !ok {
		return was, errNoFile
	}
	if t.last.IsZero() {
		return tailed{to: f.size, end: endBefore(at, f.size)}, nil
	}
	from := was.to
	if f.size < from || !bytes.Equal(endBefore(at, from), was.end) { // new, or emptied
		from = 0
	}
	start := max(from, f.size-maxTail)
	if start > from && isActive(f.name) {
		err = fmt.Errorf("%s: of %d new bytes the last %d were read", f.name, f.size-from, maxTail)
	}
	text, broken := io.ReadAll(io.NewSectionReader(at, start, f.size-start))
	text = text[:bytes.LastIndexByte(text, '\n')+1] // the rest of a line is for the next time
	for line := range bytes.Lines(text) {
		each(line, from > 0)
	}
	is.to = start + int64(len(text))
	is.end = endBefore(at, is.to)
	return is, errors.Join(err, broken)
}

// endBefore is what stands before an offset of a file.
func endBefore(at io.ReaderAt, offset int64) []byte {
	const enough = 128
	b := make([]byte, min(offset, enough))
	n, _ := at.ReadAt(b, offset-int64(len(b)))
	return b[:n]
}

// entries hands out the new entries of a journal.
func (t *logTail) entries(ctx context.Context, f *logFile, each func([]byte, bool)) (err error) {
	in, err := f.open(ctx, t.last.Add(-mtimeLag))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	left := int64(maxTail)
	err = lines(&meter{ctx: ctx, in: in, left: &left}, false, func(_ uint32, line []byte, _ bool) { each(line, true) })
	if errors.Is(err, errLogsRead) {
		err = fmt.Errorf("%s: only the first %d bytes since the last read were read", f.name, maxTail)
	}
	if j, ok := in.(*journalText); ok && err == nil && len(j.damage()) > 0 {
		err = fmt.Errorf("%s: %s", f.name, strings.Join(j.damage(), "; "))
	}
	return err
}
