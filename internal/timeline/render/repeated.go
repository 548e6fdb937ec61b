package render

import (
	"fmt"
	"strings"
	"time"
)

// told gives the text of a row, its count and its last time.
func (r *row) told(times string, zone *time.Location) string {
	if r.count < 2 || r.lateDel != nil {
		return r.said
	}
	said := fmt.Sprintf("%s %s%d", r.said, times, r.count)
	if !r.last.After(r.at) {
		return said
	}
	form := time.TimeOnly
	if day(r.last, zone) != day(r.at, zone) {
		form = "01-02 15:04:05"
	}
	return said + ", last " + r.last.In(zone).Format(form)
}

func day(t time.Time, zone *time.Location) string { return t.In(zone).Format(time.DateOnly) }

// lasted formats a duration in one or two units.
func lasted(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60), " 0 s")
	case d < 48*time.Hour:
		return strings.TrimSuffix(fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60), " 0 min")
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}
