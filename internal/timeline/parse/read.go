package parse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// An Input is a log to read. It may be an excerpt: Number then gives the number that a line
// has in the log it was taken from.
type Input struct {
	records.Input
	Number func(line uint32) uint32 // nil: lines count from one
}

// Inputs gives the files of paths; "-" is stdin.
func Inputs(paths []string, stdin io.Reader) ([]Input, error) {
	var out []Input
	for _, path := range paths {
		found, err := inputs(path, stdin)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			out = append(out, Input{Input: i})
		}
	}
	if len(out) == 0 {
		return nil, errors.New("--logs: no file to read")
	}
	return out, nil
}

func inputs(path string, stdin io.Reader) ([]records.Input, error) {
	if path == "-" {
		return []records.Input{records.Stream("stdin", stdin)}, nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("--logs: %w", err)
	}
	dir, name := filepath.Split(filepath.Clean(path))
	dir = cmp.Or(dir, ".")
	in, err := records.Walk(os.DirFS(dir), name)
	if err != nil {
		return nil, fmt.Errorf("--logs %s: %w", path, err)
	}
	return in, nil
}

// Read reads all inputs in one pass, and keeps the events that within allows. The zone is that of
// timestamps whose zone nothing shows; nil if it is not known.
func Read(ctx context.Context, in []Input, within func(*timeline.Event) bool, zone *time.Location) (*timeline.Log, error) {
	log := timeline.NewLog()
	log.InZone(zone)
	add := func(e timeline.Event) {
		if within(&e) {
			log.Add(e)
		}
	}
	plain := make([]records.Input, len(in))
	for i := range in {
		plain[i] = in[i].Input
	}
	files, err := records.All(ctx, plain, records.Options{
		Now:   time.Now(), //nolint:forbidigo // for stamps without a year
		Wants: Wants, Knows: knows,
		Parser: func(n uint16, f *timeline.File) func(*records.Record) {
			p := New(f, add)
			if int(n) >= len(in) || in[n].Number == nil {
				return p.Parse
			}
			if f.Turned != nil {
				for i, line := range f.Turned {
					f.Turned[i] = in[n].Number(line)
				}
				return p.Parse
			}
			return func(r *records.Record) {
				r.Place.Line = in[n].Number(r.Place.Line)
				p.Parse(r)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	log.SetFiles(files)
	return log, nil
}
