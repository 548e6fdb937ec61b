package records

import (
	"strconv"
	"time"
)

// epoch reads a number of seconds, milliseconds, microseconds or nanoseconds since 1970;
// its size shows which. klog's JSON has milliseconds with a fraction.
func epoch(b []byte) stamp {
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil && v > 0 {
		unit := unitOf(float64(v))
		return stampOf(time.Unix(0, 0).Add(time.Duration(v) * unit))
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || v <= 0 || v >= 1e19 {
		return stamp{}
	}
	return stampOf(time.Unix(0, int64(v*float64(unitOf(v)))))
}

func unitOf(v float64) time.Duration {
	switch {
	case v > 1e17:
		return time.Nanosecond
	case v > 1e14:
		return time.Microsecond
	case v > 1e11:
		return time.Millisecond
	default:
		return time.Second
	}
}

func stampOf(t time.Time) stamp {
	t = t.UTC()
	return stamp{
		year: int16(t.Year()), month: uint8(t.Month()), day: uint8(t.Day()),
		hour: uint8(t.Hour()), minute: uint8(t.Minute()), sec: uint8(t.Second()),
		nano: int32(t.Nanosecond()), zoned: true, fine: true,
	}
}
