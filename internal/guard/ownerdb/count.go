package ownerdb

import "errors"

// next returns the node's next sequence number: above the counter and above the given one.
// The counter is written before the number is used, so a kill leaves a gap and no number is
// given twice. Invariant: the counter >= Seq of every record of this boot.
func (b *DB) next(above uint64) (uint64, error) {
	unlock, err := b.files.Lock(lockFile + countFile)
	if err != nil {
		return 0, err
	}
	defer unlock()
	n, err := get[uint64](b, countFile)
	if errors.Is(err, errNewer) { // its numbers are not comparable: the ADD is passed on without a record
		return 0, err
	}
	if n == nil {
		if n, err = b.highest(); err != nil {
			return 0, err
		}
	}
	seq := max(*n, above) + 1
	return seq, put(b, lockFile+countFile, countFile, seq)
}

// highest returns the highest sequence number on record, for the case that the counter is
// missing or unreadable.
func (b *DB) highest() (*uint64, error) {
	all, err := b.All()
	if err != nil || len(all) == 0 {
		return new(uint64), err
	}
	return &all[0].Seq, nil
}
