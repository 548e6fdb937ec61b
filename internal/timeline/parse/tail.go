package parse

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A Tail reads files that grow. Read adds to Log the events of the lines that are new.
type Tail struct {
	Log    *timeline.Log
	files  []*grownFile
	within func(*timeline.Event) bool
}

// packed are the extensions of files that do not grow line by line.
var packed = []string{".gz", ".zst", ".tar", ".tgz", ".journal", ".journal~"}

// NewTail takes files, and all files of directories that are not compressed. It keeps the
// events that within allows. It reads nothing yet.
func NewTail(paths []string, within func(*timeline.Event) bool) (*Tail, error) {
	t := &Tail{Log: timeline.NewLog(), within: within}
	for _, path := range paths {
		err := filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Type().IsRegular() && !slices.Contains(packed, filepath.Ext(p)) {
				t.files = append(t.files, &grownFile{path: p})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(t.files) == 0 {
		return nil, errors.New("--follow needs --logs with text files")
	}
	return t, nil
}

// Read reads what every file has more than before. It tells whether any has more, and whether
// one had so much that the next Read need not wait.
func (t *Tail) Read(ctx context.Context) (grown, behind bool, err error) {
	for n, f := range t.files {
		text, err := f.grown()
		if err != nil {
			return grown, behind, err
		}
		if len(text) == 0 {
			continue
		}
		grown, behind = true, behind || len(text) > maxGrown/2
		if err := t.parse(ctx, uint16(n), f, text); err != nil {
			return grown, behind, err
		}
	}
	var files []timeline.File
	for _, f := range t.files {
		file := f.file
		file.Name = f.path
		files = append(files, file)
	}
	t.Log.SetFiles(files)
	return grown, behind, nil
}

// parse parses new lines of the nth file, with the parser that has its earlier lines.
func (t *Tail) parse(ctx context.Context, n uint16, f *grownFile, text []byte) error {
	in := records.Input{Name: f.path, ModTime: time.Now(), //nolint:forbidigo // it was written just now
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	files, err := records.All(ctx, []records.Input{in}, records.Options{Wants: Wants, Parser: func(_ uint16, file *timeline.File) func(*records.Record) {
		if f.parser == nil {
			f.parser = New(file, t.add)
		}
		return func(r *records.Record) {
			r.Place.File, r.Place.Line = n, r.Place.Line+f.lines
			f.parser.Parse(r)
		}
	}})
	if err != nil {
		return err
	}
	f.lines += files[0].Lines
	f.file = files[0]
	f.file.Lines = f.lines
	return nil
}

func (t *Tail) add(e timeline.Event) {
	if t.within(&e) {
		t.Log.Add(e)
	}
}
