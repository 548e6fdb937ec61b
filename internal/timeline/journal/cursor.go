package journal

import "context"

// A cursor goes through the entries of one file, in the order of their offsets, which is the order
// in which they were written. It follows the chain of all entries, or those of the query's
// matches; where a chain is damaged, it walks the objects.
type cursor struct {
	f    *File
	q    *query
	zstd *zstdDecoder
	head entryHead // the current entry

	main    chain
	indexed bool // the chains of the matches are followed, not main
	matched []chain
	filter  bool   // main is followed, and entries without a match are left out
	resume  uint64 // offset up to which the chains of the matches were followed before main
	skip    uint64 // realtime before which entries are left out, until the first later one
	at      uint64 // offset of the last entry that step gave
	end     int64  // end of the last entry that a chain led to: from here objects are walked
	bad     lost
	walk    walk
	held    *entryHead // to be given after the walk
	found   int64      // entries that walks found and that no item of main stands for
	whole   bool       // every entry is to be given, so that they can be counted
	done    bool

	kept      map[uint64]value
	keptBytes int
	inflated  []byte
	items     []item
	values    []byte
	parts     []uint64
}

// lost are items of a chain that led to no entry, since the last that did.
type lost struct {
	n      int64
	offset int64
	err    error
}

func (l *lost) add(n int64, offset uint64, err error) {
	if l.n += n; l.err == nil {
		l.offset, l.err = clamp(offset), err
	}
}

// clamp makes an offset, which may be any number, fit for a message.
func clamp(offset uint64) int64 { return int64(min(offset, 1<<62)) }

func newCursor(f *File, q *query, z *zstdDecoder) *cursor {
	c := &cursor{f: f, q: q, zstd: z, main: f.all(), end: f.headerSize}
	if len(q.match) > 0 {
		var ok bool
		if c.matched, ok = c.chains(); ok {
			c.indexed = true
			c.seekMatched()
			return c
		}
		c.filter = true
	}
	c.whole = !c.filter
	c.seek()
	return c
}

// seek moves main to the query's Since.
func (c *cursor) seek() {
	if c.q.since == 0 {
		return
	}
	before, ok := c.main.seek(c.q.since)
	if !ok {
		c.skip = c.q.since
		return
	}
	if e, err := c.f.entry(before); err == nil {
		c.at, c.end = before, e.end()
	}
}

func (c *cursor) seekMatched() {
	for i := range c.matched {
		if c.q.since == 0 {
			continue
		}
		if _, ok := c.matched[i].seek(c.q.since); !ok {
			c.skip = c.q.since
		}
	}
}

// next goes to the next entry. It reports false at the end.
func (c *cursor) next(ctx context.Context) (bool, error) {
	for n := 1; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		e, ok, err := c.step(ctx)
		if err != nil {
			return false, err
		}
		if !ok {
			c.kept, c.inflated, c.values = nil, nil, nil
			return false, nil
		}
		c.at = uint64(e.offset)
		if e.realtime < c.skip {
			continue
		}
		c.skip = 0
		if c.filter && !c.matches(&e) {
			continue
		}
		c.head = e
		return true, nil
	}
}

// step gives the next entry of whatever is followed.
func (c *cursor) step(ctx context.Context) (e entryHead, ok bool, err error) {
	for !c.done {
		switch {
		case c.walk.active:
			if e, ok, err = c.walked(ctx); ok || err != nil {
				return e, ok, err
			}
			c.endWalk()
		case c.held != nil:
			e, c.held = *c.held, nil
			return e, true, nil
		case c.indexed:
			if e, ok = c.nextMatched(); ok {
				return e, true, nil
			}
		default:
			if e, ok = c.nextLinked(); ok {
				return e, true, nil
			}
		}
	}
	return e, false, nil
}
