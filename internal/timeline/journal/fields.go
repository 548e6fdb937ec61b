package journal

import "errors"

var errItems = errors.New("the entry has more than 4096 fields")

// fields fills in the wanted fields of the current entry. A field that cannot be read is left out
// and counted.
func (c *cursor) fields(out *Entry) {
	e := &c.head
	*out = Entry{
		File: c.f, Offset: e.offset, Seqnum: e.seqnum, RealtimeUsec: e.realtime, MonotonicUsec: e.monotonic,
		BootID: e.bootID, XorHash: e.xorHash, Fields: out.Fields[:0],
	}
	if !c.q.all && len(c.q.fields) == 0 || !c.readItems(e) {
		return
	}
	c.values = c.values[:0]
	room := 8 * c.q.maxField
	sum := xorSum{rest: e.xorHash, parts: c.parts[:0]}
	for _, it := range c.items {
		v, err := c.value(it)
		if err != nil {
			if !c.filter { // else it was counted when the entry was compared with the matches
				c.unreadable(it, err)
			}
			sum.unknown = true
			continue
		}
		sum.add(&v)
		if v.name == "" {
			continue
		}
		if len(v.bytes) > room {
			v.bytes, v.cut = v.bytes[:room], true
		}
		room -= len(v.bytes)
		if v.cut {
			c.f.damage(cutField, 1, clamp(it.offset), nil)
		}
		if !v.kept {
			start := len(c.values)
			c.values = append(c.values, v.bytes...)
			v.bytes = c.values[start:len(c.values):len(c.values)]
		}
		out.Fields = append(out.Fields, Field{v.name, v.bytes, v.cut})
	}
	if c.parts = sum.parts; !sum.isRight() {
		c.f.damage(badXorHash, 1, e.offset, errHash)
	}
}

// readItems reads the items of an entry.
func (c *cursor) readItems(e *entryHead) bool {
	var more bool
	var err error
	c.items, more, err = c.f.items(c.items[:0], e)
	if more {
		c.f.damage(badData, 1, e.offset, errItems)
	}
	if err != nil {
		c.unreadable(item{offset: uint64(e.offset)}, err)
	}
	return err == nil
}

func (c *cursor) unreadable(it item, err error) {
	what := badData
	if errors.Is(err, errWork) {
		what = tooMuchWork
	}
	c.f.damage(what, 1, clamp(it.offset), err)
}

// matches reports whether an entry has one of the query's matches.
func (c *cursor) matches(e *entryHead) bool {
	if !c.readItems(e) {
		return false
	}
	found := false
	for _, it := range c.items {
		v, err := c.value(it)
		if err != nil {
			c.unreadable(it, err)
		}
		found = found || err == nil && v.match
	}
	return found
}
