package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"plumbline.dev/plumbline/internal/forensics"
	"plumbline.dev/plumbline/internal/forensics/read"
	"plumbline.dev/plumbline/internal/forensics/tell"
)

// readLogs reads all that the paths hold, in one pass; "-" is standard input.
func (g *global) readLogs(ctx context.Context, paths []string, within func(*forensics.Event) bool) (*forensics.Log, error) {
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
	read.Input
	number func(line uint32) uint32
}

// tellLogs has the inputs read and their events told.
func (g *global) tellLogs(ctx context.Context, in []numbered, within func(*forensics.Event) bool) (*forensics.Log, error) {
	log := forensics.NewLog()
	add := func(e forensics.Event) {
		if within(&e) {
			log.Add(e)
		}
	}
	var inputs []read.Input
	for i := range in {
		inputs = append(inputs, in[i].Input)
	}
	began := time.Now() //nolint:forbidigo // for stamps without a year, and for how long it took
	files, err := read.All(ctx, inputs, read.Options{
		Now:   began,
		Wants: tell.Wants,
		Teller: func(n uint16, f *forensics.File) func(*read.Record) {
			t := tell.New(f, add)
			if int(n) >= len(in) || in[n].number == nil {
				return t.Tell
			}
			return func(r *read.Record) {
				r.Place.Line = in[n].number(r.Place.Line)
				t.Tell(r)
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
func (g *global) inputs(path string) ([]read.Input, error) {
	if path == "-" {
		return []read.Input{read.Stream("stdin", g.Stdin)}, nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("--logs: %w", err)
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if dir == "" {
		dir = "."
	}
	in, err := read.Walk(os.DirFS(dir), name)
	if err != nil {
		return nil, fmt.Errorf("--logs %s: %w", path, err)
	}
	return in, nil
}
