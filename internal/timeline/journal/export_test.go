package journal

// Range is a part of a file.
type Range struct{ Start, End int64 }

// Ranges gives the parts of the file that an entry and its fields consist of.
func (e *Entry) Ranges() []Range {
	head, err := e.File.entry(uint64(e.Offset))
	if err != nil {
		return nil
	}
	out := []Range{{head.offset, head.offset + head.size}}
	items, _, err := e.File.items(nil, &head)
	if err != nil {
		return nil
	}
	for _, it := range items {
		if d, err := e.File.data(it.offset); err == nil {
			out = append(out, Range{d.offset, d.offset + d.size})
		}
	}
	return out
}

// Used gives the end of the file's last object.
func (f *File) Used() int64 {
	for pos := f.headerSize; ; {
		o, ok := f.plausible(pos)
		if !ok {
			return pos
		}
		pos = o.end()
	}
}

// Tables gives where the hash tables end: the objects after them are entries and what they refer to.
func (f *File) Tables() int64 {
	first, _ := f.plausible(f.headerSize)
	second, _ := f.plausible(first.end())
	return second.end()
}
