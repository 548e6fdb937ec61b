package records

import "io"

// entries turns a document into lines, one per entry, which parser knows by its field export.
type entries struct {
	next  func() error // adds the lines of the next entry to out; io.EOF after the last
	out   []byte       // of which Read has given
	given int
	err   error
	lines func() (lines uint32, bytes int64) // read so far
}

func (e *entries) Read(b []byte) (int, error) {
	for e.given == len(e.out) {
		if e.err != nil {
			return 0, e.err
		}
		e.out, e.given = e.out[:0], 0
		e.err = e.next()
	}
	n := copy(b, e.out[e.given:])
	e.given += n
	return n, nil
}

func (e *entries) total() (uint32, int64) { return e.lines() }

func (e *entries) left() []string { return nil }

// A counter knows how many bytes and lines were read, and in which line a byte is.
type counter struct {
	r      io.Reader
	bytes  int64
	lines  uint32
	breaks []int64 // offsets of the line breaks that were not asked about
	before uint32  // number of those before
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	for i, ch := range b[:n] {
		if ch == '\n' {
			c.breaks = append(c.breaks, c.bytes+int64(i))
			c.lines++
		}
	}
	c.bytes += int64(n)
	return n, err
}

// line gives the line of a byte, from zero. Offsets must not go back.
func (c *counter) line(offset int64) uint32 {
	i := 0
	for i < len(c.breaks) && c.breaks[i] < offset {
		i++
	}
	c.breaks, c.before = c.breaks[i:], c.before+uint32(i)
	return c.before
}

func (c *counter) total() (uint32, int64) { return c.lines, c.bytes }
