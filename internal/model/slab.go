package model

import "strings"

// A Text stores strings that do not repeat in a few large allocations: a million names cost
// neither a million allocations nor their rounding. It is not safe for concurrent use.
type Text struct{ piece strings.Builder }

// maxPiece limits the size of an allocation. The first ones are small, for the read of a
// single object.
const maxPiece = 64 << 10

// Of returns a copy of b as a string.
func (t *Text) Of(b []byte) string {
	if t.piece.Cap()-t.piece.Len() < len(b) {
		next := max(min(2*t.piece.Cap(), maxPiece), len(b))
		t.piece.Reset()
		t.piece.Grow(next)
	}
	from := t.piece.Len()
	t.piece.Write(b) // within the capacity, so strings that were returned stay valid
	return t.piece.String()[from:]
}

// A Slab stores short lists in the same way.
type Slab[T any] struct{ piece []T }

const maxRows = 1 << 10

// Of returns a copy of rows, never nil, with no spare capacity: append to it copies.
func (s *Slab[T]) Of(rows []T) []T {
	if s.piece == nil || cap(s.piece)-len(s.piece) < len(rows) {
		s.piece = make([]T, 0, max(min(2*cap(s.piece), maxRows), len(rows)))
	}
	from := len(s.piece)
	s.piece = append(s.piece, rows...)
	return s.piece[from:len(s.piece):len(s.piece)]
}

// A Gather collects the rows of a table of unknown length without copying them repeatedly
// while it grows.
type Gather[T any] struct {
	full [][]T
	last []T
}

const gathered = 4 << 10

// Add adds a row.
func (g *Gather[T]) Add(row T) {
	if len(g.last) == gathered {
		g.full, g.last = append(g.full, g.last), make([]T, 0, gathered)
	}
	g.last = append(g.last, row)
}

// Len is the number of rows.
func (g *Gather[T]) Len() int { return len(g.full)*gathered + len(g.last) }

// Rows returns all rows as one slice, nil if there are none. Call it once, at the end.
func (g *Gather[T]) Rows() []T {
	if len(g.full) == 0 {
		return g.last
	}
	out := make([]T, 0, g.Len())
	for i := range g.full {
		out = append(out, g.full[i]...)
		g.full[i] = nil
	}
	return append(out, g.last...)
}
