package journal

// unlinked reads an entry that a walk came to. It is given only if its xor_hash shows that the
// entry and its fields were written completely.
func (c *cursor) unlinked(o object) (entryHead, bool) {
	f := c.f
	e, err := f.entry(uint64(o.offset))
	if err == nil {
		err = c.intact(&e)
	}
	written := o.offset <= clamp(f.tailObject)
	switch {
	case err == nil:
		c.walk.found++
		if written || f.State != Online { // else it was appended since the header was read
			f.damage(unlinkedEntry, 1, o.offset, nil)
		}
	case c.walk.lost: // it was searched for, and is none
	case written:
		if c.walk.broken++; c.bad.err == nil {
			c.bad.offset, c.bad.err = o.offset, err
		}
	default:
		f.damage(unwrittenEntry, 1, o.offset, err)
	}
	return e, err == nil
}

// intact compares an entry with its xor_hash.
func (c *cursor) intact(e *entryHead) error {
	var more bool
	var err error
	if c.items, more, err = c.f.items(c.items[:0], e); err != nil {
		return err
	}
	if more {
		return errItems
	}
	sum := xorSum{rest: e.xorHash}
	for _, it := range c.items {
		if it.offset >= uint64(e.offset) {
			return errOffset // fields are written before the entry
		}
		v, err := c.value(it)
		if err != nil {
			return err
		}
		sum.add(&v)
	}
	if !sum.isRight() {
		return errHash
	}
	return nil
}
