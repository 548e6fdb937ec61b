package journal

import (
	"context"
	"encoding/binary"
)

// A walk goes over the objects of a part of the file, each of which says where the next one is. It
// looks for entries that no entry array leads to: the array was lost, or the writer was cut off
// before it linked the entry.
type walk struct {
	active        bool
	last          bool // over what follows the last entry of the chain
	lost          bool // no object was at pos
	pos, end      int64
	found, broken int64
}

// walked gives the next entry of the walk. It reports false at the end.
func (c *cursor) walked(ctx context.Context) (e entryHead, ok bool, err error) {
	w := &c.walk
	for n := 1; w.pos < w.end; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return e, false, ctx.Err()
		}
		o, ok := c.f.plausible(w.pos)
		if !ok {
			if w.last && w.pos > clamp(c.f.tailObject) {
				break // the part of the file that is not used yet
			}
			if !w.lost {
				c.f.damage(badObject, 1, w.pos, nil)
			}
			w.lost = true
			w.pos += 8
			continue
		}
		if o.typ == entryObject && uint64(o.offset) > c.at {
			e, ok = c.unlinked(o)
		} else {
			ok = false
		}
		w.pos += 8
		if ok || c.f.follows(o) {
			w.pos, w.lost = o.end(), false
		}
		if ok {
			return e, true, nil
		}
	}
	return e, false, nil
}

// plausible reports whether an object may be at pos.
func (f *File) plausible(pos int64) (object, bool) {
	if pos > f.size-objectHeader {
		return object{}, false
	}
	b, err := f.read(pos, objectHeader)
	if err != nil {
		return object{}, false
	}
	first := binary.LittleEndian.Uint64(b)
	o := object{offset: pos, typ: objectType(first), flags: byte(first >> 8), size: int64(binary.LittleEndian.Uint64(b[8:]))}
	switch {
	case o.typ == unusedObject, o.typ > tagObject, first>>16 != 0:
		return o, false
	case o.flags&^objectCompressed != 0, o.flags != 0 && o.typ != dataObject:
		return o, false
	}
	return o, f.sizeIsValid(o) && o.size <= f.size-pos
}

// follows reports whether after an object there is another one, or the part that is not used. If
// not, its size may be wrong, or it is a text that looks like an object.
func (f *File) follows(o object) bool {
	end := o.end()
	if end > f.size-objectHeader {
		return true
	}
	if _, ok := f.plausible(end); ok {
		return true
	}
	b, err := f.read(end, objectHeader)
	return err == nil && binary.LittleEndian.Uint64(b) == 0 && binary.LittleEndian.Uint64(b[8:]) == 0
}

// endWalk counts what the walk did not find, and returns to the chain.
func (c *cursor) endWalk() {
	w, bad := c.walk, c.bad
	c.walk, c.bad = walk{}, lost{}
	if n := max(bad.n-w.found, w.broken); n > 0 {
		c.f.damage(badEntry, int(n), bad.offset, bad.err)
	}
	c.found += max(0, w.found+w.broken-bad.n)
	if !w.last {
		return
	}
	c.done = true
	if n := clamp(c.f.Entries) - c.main.count - c.found; c.whole && n > 0 {
		c.f.damage(lostEntry, int(min(n, 1<<31-1)), c.f.size, nil)
	}
}
