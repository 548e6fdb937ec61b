package model

import "strings"

// A Text keeps strings that do not repeat one behind the other, in a few large pieces: a
// million names cost neither a million pieces of memory nor what each is rounded up by. It
// is not safe for use by several readers at once.
type Text struct{ piece strings.Builder }

// maxPiece is how large a piece becomes. The first are as small as what is in them, for
// those who read a single object.
const maxPiece = 64 << 10

// Of gives a copy of b.
func (t *Text) Of(b []byte) string {
	if t.piece.Cap()-t.piece.Len() < len(b) {
		next := max(min(2*t.piece.Cap(), maxPiece), len(b))
		t.piece.Reset()
		t.piece.Grow(next)
	}
	from := t.piece.Len()
	t.piece.Write(b) // within its capacity: what was given out stays where it is
	return t.piece.String()[from:]
}

// A Slab keeps short lists in the same way.
type Slab[T any] struct{ piece []T }

const maxRows = 1 << 10

// Of gives a copy of rows, never nil, to which nobody can append in place.
func (s *Slab[T]) Of(rows []T) []T {
	if s.piece == nil || cap(s.piece)-len(s.piece) < len(rows) {
		s.piece = make([]T, 0, max(min(2*cap(s.piece), maxRows), len(rows)))
	}
	from := len(s.piece)
	s.piece = append(s.piece, rows...)
	return s.piece[from:len(s.piece):len(s.piece)]
}

// A Gather collects the rows of a table whose length nobody knows. It does not copy them
// again and again as it grows.
type Gather[T any] struct {
	full [][]T
	last []T
}

const gathered = 4 << 10

// Add takes one more row.
func (g *Gather[T]) Add(row T) {
	if len(g.last) == gathered {
		g.full, g.last = append(g.full, g.last), make([]T, 0, gathered)
	}
	g.last = append(g.last, row)
}

// Len is how many there are.
func (g *Gather[T]) Len() int { return len(g.full)*gathered + len(g.last) }

// Rows gives all of them as one table, nil if there are none.
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
