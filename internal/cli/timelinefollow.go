package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// glance is how often files are looked at for more.
const glance = time.Second

// A tail is a file that grows.
type tail struct {
	path   string
	offset int64  // how far it was read
	lines  uint32 // that were read
	parser *parse.Parser
	file   timeline.File
}

// A follower reads what is new in files, and remembers the rest.
type follower struct {
	g     *global
	q     question
	tails []*tail
	log   *timeline.Log
	told  map[string]bool // events and verdicts that were shown
	// behind means that a file had more than is held at once: the next look need not wait.
	behind bool
}

// followTimeline tells what there is, and goes on with what is new until it is stopped.
func (g *global) followTimeline(ctx context.Context, q question, f timelineFlags) error {
	if f.output != "text" && f.output != "wide" {
		return errors.New("--follow works with -o text only")
	}
	fo := &follower{g: g, q: q, log: timeline.NewLog(), told: map[string]bool{}}
	for _, p := range f.logs {
		if err := fo.take(p); err != nil {
			return err
		}
	}
	if len(fo.tails) == 0 {
		return errors.New("--follow needs --logs with files")
	}
	for {
		grown, err := fo.more(ctx)
		if err != nil {
			return errIfNot(ctx, err)
		}
		fo.show(!grown) // what is being written is not judged: its end may be the next line
		if !fo.behind && cluster.Wait(ctx, glance) != nil || ctx.Err() != nil {
			return nil
		}
	}
}

// errIfNot is the error, unless it is the stop that was asked for.
func errIfNot(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

var packed = []string{".gz", ".zst", ".tar", ".tgz"}

// add keeps an event of the time asked for.
func (fo *follower) add(e timeline.Event) {
	if fo.q.within(&e) {
		fo.log.Add(e)
	}
}

// take takes a file, or all of a directory that are not compressed.
func (fo *follower) take(path string) error {
	return filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ext := filepath.Ext(p); d.Type().IsRegular() && !slices.Contains(packed, ext) {
			fo.tails = append(fo.tails, &tail{path: p})
		}
		return nil
	})
}

// more reads what every file has more than before, and tells whether any has.
func (fo *follower) more(ctx context.Context) (grown bool, err error) {
	fo.behind = false
	for n, t := range fo.tails {
		text, err := t.grown()
		if err != nil {
			return grown, err
		}
		if len(text) == 0 {
			continue
		}
		grown, fo.behind = true, fo.behind || len(text) > maxGrown/2
		in := records.Input{Name: t.path, ModTime: time.Now(), //nolint:forbidigo // it was written just now
			Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
		files, err := records.All(ctx, []records.Input{in}, records.Options{Wants: parse.Wants, Parser: func(_ uint16, f *timeline.File) func(*records.Record) {
			if t.parser == nil {
				t.parser = parse.New(f, fo.add)
			}
			return func(r *records.Record) {
				r.Place.File, r.Place.Line = uint16(n), r.Place.Line+t.lines
				t.parser.Parse(r)
			}
		}})
		if err != nil {
			return grown, err
		}
		t.lines += files[0].Lines
		t.file = files[0]
		t.file.Lines = t.lines
	}
	var files []timeline.File
	for _, t := range fo.tails {
		f := t.file
		f.Name = t.path
		files = append(files, f)
	}
	fo.log.SetFiles(files)
	return grown, nil
}

// maxGrown bounds how much of a file is held at once.
const maxGrown = 64 << 20

// grown gives the whole lines that a file has more than before; one that is shorter was
// begun anew.
func (t *tail) grown() ([]byte, error) {
	f, err := os.Open(t.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() < t.offset {
		t.offset, t.lines = 0, 0
	}
	text, err := io.ReadAll(io.NewSectionReader(f, t.offset, min(st.Size()-t.offset, maxGrown)))
	if err != nil {
		return nil, err
	}
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 || len(text) < maxGrown { // a longer line is cut
		text = text[:end+1]
	}
	t.offset += int64(len(text))
	return text, nil
}

// show prints the events that were not shown before, and the verdicts if it is time.
func (fo *follower) show(judged bool) {
	w, cols := fo.g.Stdout, fo.g.width()
	files := fo.log.Files()
	for _, s := range storiesOf(fo.log, fo.q) {
		for i := range s.Events {
			e := &s.Events[i]
			where := files[e.Place.File].At(e.Place.Line)
			if fo.told[where+e.Kind.String()] {
				continue
			}
			fo.told[where+e.Kind.String()] = true
			what := e.Kind.String()
			if e.Address.IsValid() {
				what += " " + e.Address.String()
			}
			at := "        "
			if !e.At.IsZero() {
				at = e.At.Format("15:04:05")
			}
			printLines(w, cols, line(fmt.Sprintf("%s  %-8s  %-34s %s", at, dash(short8(e.Sandbox)), what, filepath.Base(where))))
		}
		if !judged {
			continue
		}
		for _, v := range s.Verdicts {
			text := fmt.Sprintf("%s: %s [%s]", v.Cause, v.Says, v.Certainty)
			if !fo.told[text] {
				fo.told[text] = true
				printLines(w, 0, labelled("VERDICT   ", line(text), cols)...)
			}
		}
	}
}
