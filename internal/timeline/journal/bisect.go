package journal

import "sort"

// seek moves the chain, of which nothing was read yet, to the first entry at or after a realtime,
// and gives the entry before it, 0 for none. It reports false, and moves nothing, if an array or
// an entry that it needs cannot be read. As journalctl does, it takes entries to be in the order
// of their realtime; where the clock was set back it finds one of the places.
func (c *chain) seek(usec uint64) (before uint64, ok bool) {
	s := *c
	if s.extra != 0 {
		e, err := c.f.entry(s.extra)
		if err != nil {
			return 0, false
		}
		if e.realtime >= usec {
			return 0, true
		}
		before = s.extra
		s.take()
	}
	for s.open() {
		used, err := s.used()
		if err != nil {
			return 0, false
		}
		i, err := s.bisect(usec, used)
		if err != nil {
			return 0, false
		}
		if i > 0 {
			if before, err = s.item(i - 1); err != nil {
				return 0, false
			}
		}
		s.count += i
		if i < used || used < s.items() {
			s.at = i
			break
		}
		s.at = s.items()
	}
	if s.err != nil {
		return 0, false
	}
	*c = s
	return before, true
}

// used gives the number of items of the current array up to the first that is 0.
func (c *chain) used() (int64, error) {
	return c.search(c.items(), func(p uint64) (bool, error) { return p == 0, nil })
}

// bisect gives the first of n items whose entry is at or after a realtime, n if none is.
func (c *chain) bisect(usec uint64, n int64) (int64, error) {
	return c.search(n, func(p uint64) (bool, error) {
		e, err := c.f.entry(p)
		return e.realtime >= usec, err
	})
}

func (c *chain) search(n int64, found func(uint64) (bool, error)) (int64, error) {
	var failed error
	i := sort.Search(int(n), func(i int) bool {
		p, err := c.item(int64(i))
		is := false
		if err == nil {
			is, err = found(p)
		}
		if err != nil {
			failed = err
		}
		return is
	})
	return int64(i), failed
}

// item reads one item of the current array.
func (c *chain) item(i int64) (uint64, error) {
	size := c.f.arrayItem()
	b, err := c.f.read(c.array.offset+arrayHeader+i*size, size)
	if err != nil {
		return 0, err
	}
	return arrayValue(b, size), nil
}

// tail gives the last entry that the chain of all entries refers to.
func (f *File) tail() (entryHead, bool) {
	c := f.all()
	last := uint64(0)
	for c.open() {
		used, err := c.used()
		if err != nil {
			break
		}
		if used > 0 {
			if last, err = c.item(used - 1); err != nil {
				break
			}
		}
		if used < c.items() {
			break
		}
		c.at = c.items()
	}
	e, err := f.entry(last)
	return e, err == nil
}
