package pick

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// A fileClock reads the timestamps of one file's lines.
type fileClock struct {
	modified time.Time      // of the file: it tells the year where timestamps do not
	zone     *time.Location // the node's; nil if not known
}

// A stamp is when a line was written, in whole seconds. Where it has no zone, both the
// node's and UTC are possible.
type stamp struct {
	local, utc time.Time
}

func (c *fileClock) read(line []byte) (stamp, bool) {
	local, utc, ok := records.LineTime(line, c.modified, c.zone)
	return stamp{local.Truncate(time.Second), utc.Truncate(time.Second)}, ok
}

// within tells that a stamp may lie in a span of time. Invariant: the true time is less than
// a second later than the stamp.
func (s stamp) within(since, until time.Time) bool {
	in := func(t time.Time) bool {
		return (since.IsZero() || t.Add(time.Second).After(since)) && (until.IsZero() || !t.After(until))
	}
	return in(s.local) || in(s.utc)
}
