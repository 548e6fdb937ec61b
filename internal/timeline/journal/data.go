package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var (
	errItemHash = errors.New("the entry has another hash for it")
	errName     = errors.New("it has no field name")
	errHash     = errors.New("its content was changed or lost")
)

// A dataHead is a data object without its payload.
type dataHead struct {
	object
	hash, nextHash    uint64
	entry, entryArray uint64 // the first entry that refers to it, and the array of the others
	entries           uint64
}

func (f *File) data(offset uint64) (d dataHead, err error) {
	if d.object, err = f.object(offset, dataObject); err != nil {
		return d, err
	}
	b, err := f.read(d.offset, 64)
	if err != nil {
		return d, err
	}
	le := binary.LittleEndian
	d.hash, d.nextHash = le.Uint64(b[16:]), le.Uint64(b[24:])
	d.entry, d.entryArray, d.entries = le.Uint64(b[40:]), le.Uint64(b[48:]), le.Uint64(b[56:])
	return d, nil
}

// payload gives at most limit bytes of NAME=VALUE, until the next read or the next payload; more
// says that there are more.
func (c *cursor) payload(d *dataHead, limit int) (b []byte, more bool, err error) {
	start, n := d.offset+c.f.dataHeader(), d.size-c.f.dataHeader()
	flags := d.flags & objectCompressed
	if err := c.f.spend(0); err != nil {
		return nil, false, err
	}
	if flags == 0 {
		more = n > int64(limit)
		b, err = c.f.read(start, min(n, int64(limit)))
	} else if b, err = c.f.read(start, min(n, rawLimit(limit))); err == nil {
		c.inflated, more, err = c.zstd.decompress(flags, c.inflated[:0], b, limit)
		b = c.inflated
	}
	if err == nil {
		err = c.f.spend(int64(len(b)))
	}
	return b, more, err
}

// A value is what is kept of a data object.
type value struct {
	name  string // empty if the field is not wanted
	bytes []byte
	cut   bool
	match bool // it is one of the query's matches
	kept  bool // bytes do not change with the next read
	long  bool // the payload was not read to its end
	hash  uint64
	xor   uint64 // its part of an entry's xor_hash
}

// value reads the data object of an item. Objects that several entries refer to are kept.
func (c *cursor) value(it item) (value, error) {
	v, ok := c.kept[it.offset]
	if !ok {
		d, err := c.f.data(it.offset)
		if err != nil {
			return v, err
		}
		if v, err = c.valueOf(&d); err != nil {
			return v, err
		}
		if d.entries > 1 {
			c.keep(it.offset, &v)
		}
	}
	if !c.f.Compact && v.hash != it.hash {
		return v, errItemHash
	}
	return v, nil
}

func (c *cursor) valueOf(d *dataHead) (v value, err error) {
	b, more, err := c.payload(d, c.q.maxField+maxName+1)
	if err != nil {
		return v, err
	}
	v.hash, v.xor, v.long = d.hash, d.hash, more
	v.match = !more && c.q.matches(b)
	if c.f.KeyedHash { // the same in files with other keys
		v.xor = lookup3(b)
	}
	name, val, ok := bytes.Cut(b, []byte("="))
	if !ok || len(name) == 0 || len(name) > maxName {
		return v, errName
	}
	if v.name = c.q.wanted(name); v.name == "" {
		return v, nil
	}
	if !more && c.f.hash(b) != d.hash {
		c.f.damage(badHash, 1, d.offset, errHash)
	}
	if v.cut = more || len(val) > c.q.maxField; v.cut {
		val = val[:min(len(val), c.q.maxField)]
	}
	v.bytes = val
	return v, nil
}

const (
	maxKept      = 16 << 10 // data objects of a file
	maxKeptBytes = 1 << 20
	maxKeptValue = 4 << 10
)

// keep remembers a value, and makes it last.
func (c *cursor) keep(offset uint64, v *value) {
	if len(v.bytes) > maxKeptValue || v.cut {
		return
	}
	if c.kept == nil || len(c.kept) >= maxKept || c.keptBytes > maxKeptBytes {
		c.kept, c.keptBytes = map[uint64]value{}, 0
	}
	v.bytes, v.kept = bytes.Clone(v.bytes), true
	c.kept[offset] = *v
	c.keptBytes += len(v.bytes)
}
