package journal

import (
	"encoding/binary"
	"errors"
)

const arrayHeader = 24 // up to the items

var errChain = errors.New("the chain does not go forward")

// A chain gives the items of the entry arrays that follow each other: of all entries of the file,
// or of those that refer to one data object. Items that are not used yet are 0. Arrays later in a
// chain are later in the file, so that a chain has an end.
type chain struct {
	f     *File
	extra uint64 // the entry that a data object holds itself, before the first array
	next  uint64 // the array after the current one, 0 for none
	array object // the current one
	at    int64  // in the current array: the item to read next
	count int64  // items read so far
	want  uint64 // of a data object: the number of its entries
	buf   []uint64
	taken int    // of buf
	err   error  // the chain ends because an array cannot be read
	errAt uint64 // offset of that array
}

// peek gives the next item. It reports false at the end.
func (c *chain) peek() (uint64, bool) {
	if c.extra != 0 {
		return c.extra, true
	}
	if !c.buffer(1) {
		return 0, false
	}
	return c.buf[c.taken], true
}

// second gives the item after the one that peek gives, 0 for none.
func (c *chain) second() uint64 {
	i := 1
	if c.extra != 0 {
		i = 0
	}
	if !c.buffer(i + 1) {
		return 0
	}
	return c.buf[c.taken+i]
}

// take goes on to the item after the one that peek gave.
func (c *chain) take() {
	c.count++
	if c.extra != 0 {
		c.extra = 0
		return
	}
	c.taken++
}

// buffer reads items until n are buffered. It reports false if the chain has fewer.
func (c *chain) buffer(n int) bool {
	for len(c.buf)-c.taken < n {
		if c.at == c.items() && !c.open() || c.err != nil {
			return false
		}
		c.buf, c.taken = append(c.buf[:0], c.buf[c.taken:]...), 0
		if c.err = c.read(min(c.items()-c.at, 512)); c.err != nil {
			c.errAt = uint64(c.array.offset)
			return false
		}
	}
	return true
}

func (c *chain) read(n int64) error {
	size := c.f.arrayItem()
	if err := c.f.spend(n * size); err != nil {
		return err
	}
	b, err := c.f.read(c.array.offset+arrayHeader+c.at*size, n*size)
	if err != nil {
		return err
	}
	for ; len(b) > 0; b = b[size:] {
		c.buf = append(c.buf, arrayValue(b, size))
	}
	c.at += n
	return nil
}

func arrayValue(b []byte, size int64) uint64 {
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// items is the number of items of the current array, 0 before the first.
func (c *chain) items() int64 {
	return max(0, c.array.size-arrayHeader) / c.f.arrayItem()
}

// open goes to the next array. It reports false at the end of the chain.
func (c *chain) open() bool {
	if c.next == 0 || c.err != nil {
		return false
	}
	c.errAt = c.next
	if c.next <= uint64(c.array.offset) {
		c.err = errChain
		return false
	}
	var o object
	if o, c.err = c.f.object(c.next, entryArrayObject); c.err != nil {
		return false
	}
	var b []byte
	if b, c.err = c.f.read(o.offset, arrayHeader); c.err != nil {
		return false
	}
	c.array, c.at, c.next = o, 0, binary.LittleEndian.Uint64(b[16:])
	return true
}

// all gives the chain of all entries.
func (f *File) all() chain { return chain{f: f, next: f.entryArray} }
