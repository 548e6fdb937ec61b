package ownerdb

// next gives the node's next sequence number. The counter is written before the number
// is used: a kill leaves a gap, never the same number twice.
func (b *DB) next(above uint64) (uint64, error) {
	unlock, err := b.files.Lock(lockFile + countFile)
	if err != nil {
		return 0, err
	}
	defer unlock()
	n, _ := get[uint64](b, countFile)
	if n == nil {
		if n, err = b.highest(); err != nil {
			return 0, err
		}
	}
	seq := max(*n, above) + 1
	return seq, put(b, lockFile+countFile, countFile, seq)
}

// highest finds where to go on when there is no counter: above all that are on record.
func (b *DB) highest() (*uint64, error) {
	all, err := b.All()
	if err != nil || len(all) == 0 {
		return new(uint64), err
	}
	return &all[0].Seq, nil
}
