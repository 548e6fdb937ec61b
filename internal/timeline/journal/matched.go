package journal

// nextMatched gives the next entry that one of the matches' chains refers to. If a chain is
// damaged, or may not be complete, it goes over to the chain of all entries, and reports false.
func (c *cursor) nextMatched() (entryHead, bool) {
	least, ok := c.least()
	if ok && least != 0 {
		if e, err := c.f.entry(least); err == nil {
			c.end = e.end()
			return e, true
		}
	}
	if ok && least == 0 && c.f.State != Online && c.complete() {
		c.done = true
		return entryHead{}, false
	}
	c.indexed, c.filter, c.resume = false, true, c.at
	if c.at == 0 {
		c.seek()
	}
	return entryHead{}, false
}

// least gives the least item of all chains that is not given yet, 0 at their end. It reports false
// if a chain is not in order.
func (c *cursor) least() (least uint64, ok bool) {
	for i := range c.matched {
		m := &c.matched[i]
		p, more := m.peek()
		if more && p == c.at { // the entry has several of the matches
			m.take()
			p, more = m.peek()
		}
		if !more || p == 0 {
			continue // unused items, if they are: complete compares the number
		}
		if next := m.second(); p <= c.at || next != 0 && next <= p {
			return 0, false
		}
		if least == 0 || p < least {
			least = p
		}
	}
	return least, true
}

// complete reports whether the chains gave as many entries as their data objects count.
func (c *cursor) complete() bool {
	for i := range c.matched {
		if m := &c.matched[i]; m.err != nil || uint64(m.count) < m.want {
			return false
		}
	}
	return true
}
