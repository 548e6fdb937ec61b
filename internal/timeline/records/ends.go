package records

import (
	"bytes"
	"time"
)

// maxTrailing is how many lines without a timestamp are skipped to find the last one of a chunk
// that has one: a stack trace is shorter.
const maxTrailing = 256

// ends gives the time of a chunk's last line that has one, wanted or not: any line shows that the
// file continues.
func (t *fileParser) ends(buf []byte) (at time.Time) {
	asked := t.clock.asked // a guess that only this line needs is not reported
	for n := 0; n < maxTrailing && len(buf) > 0 && at.IsZero(); n++ {
		buf = bytes.TrimRight(buf, "\r\n")
		start := bytes.LastIndexByte(buf, '\n') + 1
		at = t.parsed(buf[start:min(len(buf), start+maxLine)])
		buf = buf[:start]
	}
	t.clock.asked = asked
	return at
}
