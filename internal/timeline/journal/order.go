package journal

import "cmp"

// A bootTail is the latest entry that is known of a boot.
type bootTail struct {
	machine  ID128
	realtime uint64
}

// bootTails finds when the boots ended that files end with. The order of boots is known from it
// even if entries' own times are wrong, as on a machine that boots without a clock.
func bootTails(files []*File) map[ID128]bootTail {
	out := map[ID128]bootTail{}
	for _, f := range files {
		if e, ok := f.tail(); ok && e.realtime > out[e.bootID].realtime {
			out[e.bootID] = bootTail{f.MachineID, e.realtime}
		}
	}
	return out
}

// compare orders the current entries of two files as journalctl does: by seqnum if they are of the
// same writer, then by the monotonic time of a boot or the order of boots, then by realtime.
func (r *Reader) compare(a, b *cursor) int {
	if a.f.SeqnumID == b.f.SeqnumID && a.head.seqnum != b.head.seqnum {
		return cmp.Compare(a.head.seqnum, b.head.seqnum)
	}
	boots := 0
	if a.head.bootID == b.head.bootID {
		boots = cmp.Compare(a.head.monotonic, b.head.monotonic)
	} else {
		x, y := r.boots[a.head.bootID], r.boots[b.head.bootID]
		if x.realtime != 0 && y.realtime != 0 && x.machine == y.machine {
			boots = cmp.Compare(x.realtime, y.realtime)
		}
	}
	return cmp.Or(boots, cmp.Compare(a.head.realtime, b.head.realtime), cmp.Compare(a.head.xorHash, b.head.xorHash))
}

// same reports whether the current entries of two files are one entry that is in both.
func same(a, b *cursor) bool {
	x, y := &a.head, &b.head
	return a.f.SeqnumID == b.f.SeqnumID && x.seqnum == y.seqnum && x.bootID == y.bootID &&
		x.monotonic == y.monotonic && x.realtime == y.realtime && x.xorHash == y.xorHash
}
