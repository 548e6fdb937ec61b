package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// readLogs reads all that the paths hold, in one pass; "-" is standard input.
func (g *global) readLogs(ctx context.Context, paths []string, within func(*timeline.Event) bool) (*timeline.Log, error) {
	var in []numbered
	for _, p := range paths {
		found, err := g.inputs(p)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			in = append(in, numbered{Input: i})
		}
	}
	if len(in) == 0 {
		return nil, errors.New("--logs: no file to read there")
	}
	return g.tellLogs(ctx, in, within)
}

// A numbered input may be an excerpt, whose lines stand elsewhere in the whole.
type numbered struct {
	records.Input
	number func(line uint32) uint32
}

// tellLogs has the inputs read and their events told.
func (g *global) tellLogs(ctx context.Context, in []numbered, within func(*timeline.Event) bool) (*timeline.Log, error) {
	log := timeline.NewLog()
	add := func(e timeline.Event) {
		if within(&e) {
			log.Add(e)
		}
	}
	var inputs []records.Input
	for i := range in {
		inputs = append(inputs, in[i].Input)
	}
	began := time.Now() //nolint:forbidigo // for stamps without a year, and for how long it took
	files, err := records.All(ctx, inputs, records.Options{
		Now:   began,
		Wants: parse.Wants,
		Parser: func(n uint16, f *timeline.File) func(*records.Record) {
			t := parse.New(f, add)
			if int(n) >= len(in) || in[n].number == nil {
				return t.Parse
			}
			return func(r *records.Record) {
				r.Place.Line = in[n].number(r.Place.Line)
				t.Parse(r)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	log.SetFiles(files)
	if g.verbose {
		var bytes int64
		for i := range files {
			bytes += files[i].Bytes
		}
		fmt.Fprintf(g.Stderr, "read %d log files, %s, in %.1f s\n", len(files), size(bytes), time.Since(began).Seconds())
	}
	return log, nil
}

// inputs gives the files of one path.
func (g *global) inputs(path string) ([]records.Input, error) {
	if path == "-" {
		return []records.Input{records.Stream("stdin", g.Stdin)}, nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("--logs: %w", err)
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	in, err := records.Walk(os.DirFS(dir), name)
	if err != nil {
		return nil, fmt.Errorf("--logs %s: %w", path, err)
	}
	return in, nil
}
