package journal

import "errors"

var (
	errGap   = errors.New("the entry array has a gap")
	errOrder = errors.New("the entry array is not in order")
)

// nextLinked gives the next entry of the chain of all entries. If items before it led to no entry,
// or the chain ends, it begins a walk over the objects instead, and reports false.
func (c *cursor) nextLinked() (entryHead, bool) {
	unused := int64(0)
	for {
		p, ok := c.main.peek()
		if !ok {
			c.endChain(unused)
			return entryHead{}, false
		}
		c.main.take()
		if p == 0 {
			unused++ // if others follow, they are lost
			continue
		}
		if p <= c.resume {
			c.bad, unused = lost{}, 0
			continue
		}
		if unused > 0 {
			c.bad.add(unused, uint64(c.main.array.offset), errGap)
			unused = 0
		}
		e, err := c.linked(p)
		if err != nil {
			c.bad.add(1, p, err)
			continue
		}
		from := c.end
		c.end = e.end()
		if c.bad.n > 0 {
			c.held, c.walk = &e, walk{active: true, pos: from, end: e.offset}
			return entryHead{}, false
		}
		return e, true
	}
}

// linked reads the entry that an item of the chain refers to. If the item is greater than the one
// after it, and that one leads to an entry, the item is wrong.
func (c *cursor) linked(p uint64) (entryHead, error) {
	if p <= c.at {
		return entryHead{}, errOrder
	}
	if next, ok := c.main.peek(); ok && next < p && next > c.at {
		if _, err := c.f.entry(next); err == nil {
			return entryHead{}, errOrder
		}
	}
	return c.f.entry(p)
}

// endChain begins the last walk: over what follows the last entry.
func (c *cursor) endChain(unused int64) {
	c.main.count -= unused
	if c.main.err != nil {
		c.f.damage(badArray, 1, clamp(c.main.errAt), c.main.err)
	}
	c.walk = walk{active: true, last: true, pos: c.end, end: c.f.size}
}
