package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
)

var errTable = errors.New("its offset or size is not possible")

// find looks a payload up in the data hash table. It reports false if there is no such data object,
// and an error if a part of the table that it needs is damaged.
func (c *cursor) find(payload []byte) (d dataHead, found bool, err error) {
	f := c.f
	if f.dataTable == 0 && f.dataSize == 0 {
		return d, false, nil // nothing was written yet
	}
	buckets := f.dataSize / hashItem
	if buckets == 0 || f.dataTable < minHeader+objectHeader || f.dataTable > uint64(f.size) || f.dataSize > uint64(f.size)-f.dataTable {
		return d, false, errTable
	}
	hash := f.hash(payload)
	b, err := f.read(int64(f.dataTable+hash%buckets*hashItem), hashItem)
	if err != nil {
		return d, false, err
	}
	for p, last := binary.LittleEndian.Uint64(b), uint64(0); p != 0; p, last = d.nextHash, p {
		if p <= last {
			return d, false, errChain
		}
		if d, err = f.data(p); err != nil {
			return d, false, err
		}
		if err := f.spend(objectHeader); err != nil {
			return d, false, err
		}
		if d.hash != hash {
			continue
		}
		got, more, err := c.payload(&d, len(payload)+1)
		if err != nil {
			return d, false, err
		}
		if !more && bytes.Equal(got, payload) {
			return d, true, nil
		}
	}
	return d, false, nil
}

// chains gives the chains of the entries that have one of the query's matches. It reports false
// if the table cannot tell them.
func (c *cursor) chains() (out []chain, ok bool) {
	for _, m := range c.q.match {
		d, found, err := c.find(m)
		if err != nil {
			c.f.damage(badTable, 1, int64(c.f.dataTable), err)
			return nil, false
		}
		if found {
			out = append(out, chain{f: c.f, extra: d.entry, next: d.entryArray, want: d.entries})
			continue
		}
		if c.f.State == Online {
			// The writer may have been cut off before it linked the object.
			return nil, false
		}
	}
	return out, true
}
