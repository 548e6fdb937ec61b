package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

const (
	drainedFile = "drained" // below the guard's directory: how far we are
	segmentEnd  = ".flight"
	pieceSize   = 256 << 10 // longer than any line
	maxPieces   = 64        // of one round
	maxDrained  = 1 << 20
	// quiet is how long nobody must have written to a segment that is not the last: whoever
	// opened it before there was a next one is done by then.
	quiet = 30 * time.Second
)

// A drain takes the guard's lines from memory to the disk. First a line is on the disk, then
// it is counted as taken: if we are killed in between, it is there twice, and none is lost.
// On a full disk lines wait where they are; the guard itself bounds how many.
type drain struct {
	Taken map[string]int64 `json:"taken"` // bytes, by segment
	Count count            `json:"count"`

	record *eventlog.Record
	said   string
}

func (d *drain) remember(file string) {
	if raw, err := read(file, maxDrained); err != nil || json.Unmarshal(raw, d) != nil {
		*d = drain{}
	}
	if d.Taken == nil {
		d.Taken = map[string]int64{}
	}
	d.Count.whole()
}

// drains takes what there is.
func (k *Daemon) drains(ctx context.Context) {
	d := &k.drain
	changed, err := d.round(ctx, k.file(guard.EventDir), k.Record, k.Now)
	if changed {
		raw, bad := json.Marshal(d)
		if bad == nil {
			bad = replace(k.file(drainedFile), raw, 0o600)
		}
		err = errors.Join(err, bad)
		tally, keyed := d.Count.tally(k.Now()), d.Count.Keyed
		k.say(func(r *guard.Report) { r.Tally, r.Keyed = tally, keyed })
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != d.said {
		k.Log.Info("the guard's record", "error", text)
		d.said = text
	}
}

// round goes once through all segments, the oldest first.
func (d *drain) round(ctx context.Context, from, to string, now func() time.Time) (changed bool, err error) {
	names, err := segments(from)
	if err != nil {
		return false, err
	}
	for name := range d.Taken {
		if !slices.Contains(names, name) {
			delete(d.Taken, name)
		}
	}
	for i, name := range names {
		file := filepath.Join(from, name)
		took, err := d.segment(ctx, file, name, to)
		changed = changed || took
		if err != nil {
			return changed, err
		}
		if i < len(names)-1 {
			err = d.discard(file, name, now())
		}
		if err != nil || ctx.Err() != nil {
			return changed, err
		}
	}
	return changed, nil
}

// segments gives the files of a flight record, the oldest first.
func segments(dir string) ([]string, error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the guard's record: %w", err)
	}
	byNumber := map[int]string{}
	for _, f := range all {
		number, ok := strings.CutSuffix(f.Name(), segmentEnd)
		if n, err := strconv.Atoi(number); ok && err == nil && n >= 0 && f.Type().IsRegular() {
			byNumber[n] = f.Name()
		}
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		out = append(out, byNumber[n])
	}
	return out, nil
}

// segment takes what is new in one.
func (d *drain) segment(ctx context.Context, file, name, to string) (changed bool, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the guard's own bound
	}
	if err != nil {
		return false, fmt.Errorf("read the guard's record: %w", err)
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err == nil && st.Size() < d.Taken[name] {
		d.Taken[name] = 0 // it is another
	}
	piece := make([]byte, pieceSize)
	for range maxPieces {
		n, err := f.ReadAt(piece, d.Taken[name])
		if err != nil && !errors.Is(err, io.EOF) {
			return changed, fmt.Errorf("read the guard's record: %w", err)
		}
		all := lines(piece[:n], d.Taken[name], n == len(piece))
		for _, line := range all {
			if err := d.take(line.text, to); err != nil {
				return changed, err
			}
			d.Taken[name], changed = line.end, true
		}
		if len(all) == 0 || ctx.Err() != nil {
			break
		}
	}
	return changed, nil
}

// take has one line on the disk and counted. What is no line of the guard's is left out.
func (d *drain) take(line []byte, to string) error {
	e, ok := eventlog.Parse(line)
	if !ok {
		return nil
	}
	if err := d.append(e, to); err != nil {
		return err
	}
	d.Count.add(&e)
	return nil
}

func (d *drain) append(e eventlog.Entry, to string) (err error) {
	if to == "" {
		return nil
	}
	if d.record == nil {
		if d.record, err = eventlog.Open(to); err != nil {
			d.record = nil
			return err
		}
	}
	if err := d.record.Append(e); err != nil {
		_ = d.record.Close()
		d.record = nil // the agent may have gone on to another segment, or the disk have come back
		return err
	}
	return nil
}

// discard removes a segment of which all was taken, and to which nobody writes any more.
func (d *drain) discard(file, name string, now time.Time) error {
	st, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || st.Size() > d.Taken[name] || now.Sub(st.ModTime()) < quiet {
		return err
	}
	return remove(file)
}
