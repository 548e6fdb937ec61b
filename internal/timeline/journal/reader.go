package journal

import (
	"context"
	"io"
)

// A Reader gives the entries of several files in order, each entry once. The files may be those
// of one machine, rotated, or of several machines.
type Reader struct {
	cursors []*cursor // those that have a current entry, once started
	boots   map[ID128]bootTail
	entry   Entry
	given   []*cursor // whose current entry was given
	started bool
}

// NewReader gives a reader of the entries that q asks for. The files must have no other reader.
func NewReader(q Query, files ...*File) *Reader {
	r := &Reader{}
	shared, prepared, z := newPages(), newQuery(q), &zstdDecoder{}
	for _, f := range files {
		f.pages = shared
	}
	if len(files) > 1 {
		r.boots = bootTails(files)
	}
	for _, f := range files {
		r.cursors = append(r.cursors, newCursor(f, prepared, z))
	}
	return r
}

// Next gives the next entry, until the call after it. At the end it gives io.EOF; File.Damage then
// tells what could not be read. The only other errors are those of the context.
func (r *Reader) Next(ctx context.Context) (*Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := r.advance(ctx); err != nil {
		return nil, err
	}
	if len(r.cursors) == 0 {
		return nil, io.EOF
	}
	first := r.cursors[0]
	for _, c := range r.cursors[1:] {
		if r.compare(c, first) < 0 {
			first = c
		}
	}
	for _, c := range r.cursors {
		if c == first || same(c, first) {
			r.given = append(r.given, c)
		}
	}
	first.fields(&r.entry)
	return &r.entry, nil
}

// advance moves the cursors whose entry was given, at first all of them, and drops those at their
// end.
func (r *Reader) advance(ctx context.Context) error {
	if !r.started {
		r.started, r.given = true, append(r.given, r.cursors...)
	}
	for len(r.given) > 0 {
		c := r.given[len(r.given)-1]
		ok, err := c.next(ctx)
		if err != nil {
			return err
		}
		r.given = r.given[:len(r.given)-1]
		if !ok {
			r.drop(c)
		}
	}
	return nil
}

func (r *Reader) drop(gone *cursor) {
	kept := r.cursors[:0]
	for _, c := range r.cursors {
		if c != gone {
			kept = append(kept, c)
		}
	}
	r.cursors = kept
}
