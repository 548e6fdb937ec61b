package records

import (
	"bytes"
	"time"
)

// maxTrailing is how many lines without a stamp are passed over to find a chunk's last
// that has one: a stack trace has no more.
const maxTrailing = 256

// ends gives the time of a chunk's last line that has one, wanted or not: that a file goes
// on is shown by any line.
func (t *fileParser) ends(buf []byte) (at time.Time) {
	asked := t.clock.asked // what is guessed for this alone concerns no event
	for n := 0; n < maxTrailing && len(buf) > 0 && at.IsZero(); n++ {
		buf = bytes.TrimRight(buf, "\r\n")
		start := bytes.LastIndexByte(buf, '\n') + 1
		at = t.parsed(buf[start:min(len(buf), start+maxLine)])
		buf = buf[:start]
	}
	t.clock.asked = asked
	return at
}
