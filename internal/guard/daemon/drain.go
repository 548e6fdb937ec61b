package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

const (
	drainedFile  = "drained" // below the guard's directory: how far the events are copied
	drainVersion = 1
	pieceSize    = 256 << 10 // longer than any line
	maxPieces    = 64        // per round and segment
	maxDrained   = 1 << 20
	// quiet is how long a segment that is not the last must be unchanged before it is
	// removed: a writer that opened it before the next one existed is done by then.
	quiet = 30 * time.Second
)

// A drain copies the guard's events from /run to disk. An entry is written to disk first
// and counted as taken then: after a kill in between it is there twice, and none is lost.
// If the disk is full, entries stay in /run; the plugin itself bounds how many.
type drain struct {
	Version int              `json:"version"` // drainVersion; 0 in files of earlier versions, which have the same content
	Taken   map[string]int64 `json:"taken"`   // bytes, by segment
	Count   count            `json:"count"`

	record *eventlog.Record
	said   string
}

func (d *drain) remember(file string) {
	if raw, err := hostfile.ReadFollow(file, maxDrained); err != nil || json.Unmarshal(raw, d) != nil || d.Version > drainVersion {
		*d = drain{}
	}
	d.Version = drainVersion
	if d.Taken == nil {
		d.Taken = map[string]int64{}
	}
	d.Count.withDefaults()
}

// drains copies the new events.
func (k *daemon) drains(ctx context.Context) {
	d := &k.drain
	changed, err := d.round(ctx, k.file(guard.EventDir), k.Record, k.Now)
	if changed {
		raw, bad := json.Marshal(d)
		if bad == nil {
			bad = hostfile.Replace(k.file(drainedFile), raw, 0o600)
		}
		err = errors.Join(err, bad)
		tally := d.Count.tally(k.Now())
		k.say(func(r *guard.Report) { r.Tally = tally })
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != d.said {
		k.Log.Info("copy the guard's event log", "error", text)
		d.said = text
	}
}

// round goes through all segments once, oldest first.
func (d *drain) round(ctx context.Context, from, to string, now func() time.Time) (changed bool, err error) {
	names, err := eventlog.Segments(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
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

// segment copies the new entries of one.
func (d *drain) segment(ctx context.Context, file, name, to string) (changed bool, err error) {
	f, err := hostfile.Open(file, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the plugin removed it, to bound the log
	}
	if err != nil {
		return false, fmt.Errorf("read the guard's event log: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := eventlog.Check(f); err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if st, err := f.Stat(); err == nil && st.Size() < d.Taken[name] {
		d.Taken[name] = 0 // another file of the same name
	}
	piece := make([]byte, pieceSize)
	for range maxPieces {
		n, err := f.ReadAt(piece, d.Taken[name])
		if err != nil && !errors.Is(err, io.EOF) {
			return changed, fmt.Errorf("read the guard's event log: %w", err)
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

// take writes one line to disk and counts it. A line that is not an entry is skipped.
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
		d.record = nil // reopen: the agent may have started another segment, or the disk was full
		return err
	}
	return nil
}

// discard removes a segment that is copied entirely and no longer written to.
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
