package records

import (
	"bytes"
	"time"
)

// LineTime gives the time of the timestamp that a line begins with, whatever follows it. A
// timestamp without a zone gives two times, by the clock of the node and in UTC; they are
// equal if the zone is in the timestamp or the node's is not known (nil). A missing year is
// the last one in which the day is not later than the file's modification time.
func LineTime(line []byte, modified time.Time, zone *time.Location) (local, utc time.Time, ok bool) {
	s := lineStamp(line)
	if !s.is() {
		return local, utc, false
	}
	if s.year == 0 {
		s.year = int16(lastYear(s.date(), modified))
	}
	utc = s.in(0, 0)
	if s.zoned || zone == nil {
		return utc, utc, true
	}
	return time.Date(utc.Year(), utc.Month(), utc.Day(), utc.Hour(), utc.Minute(), utc.Second(), utc.Nanosecond(), zone), utc, true
}

// lineStamp reads the timestamp at the beginning of a line: of Calico, the container runtime,
// klog, syslog, logrus or the event log of a node, whose entries follow a checksum.
func lineStamp(line []byte) (s stamp) {
	const logrus, checksum, entry = `time="`, 8, ` {"at":"`
	b := line[indent(line):]
	switch {
	case bytes.HasPrefix(b, []byte(logrus)):
		b = b[len(logrus):]
	case len(b) > checksum && bytes.HasPrefix(b[checksum:], []byte(entry)):
		b = b[checksum+len(entry):]
	}
	if len(b) == 0 || isoStamp(b, &s) > 0 || syslogStamp(b, &s) > 0 {
		return s
	}
	switch b[0] {
	case 'I', 'W', 'E', 'F', 'D':
		klogStamp(b, &s)
	}
	return s
}
