package model

import "time"

// A Time is an instant of the API server's clock, to the second; zero means unknown.
// Eight bytes instead of 24: there are millions of them.
type Time int64

// At returns t as a Time.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.Unix())
}

// Time returns t as a time.Time, in UTC.
func (t Time) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(int64(t), 0).UTC()
}

// IsZero reports whether the time is unknown.
func (t Time) IsZero() bool { return t == 0 }

// Sub is the duration from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Second }

// Add is the instant d later.
func (t Time) Add(d time.Duration) Time { return t + Time(d/time.Second) }

func (t Time) String() string { return t.Time().Format(time.RFC3339) }

// MarshalText writes RFC 3339, or nothing.
func (t Time) MarshalText() ([]byte, error) {
	if t == 0 {
		return []byte{}, nil
	}
	return []byte(t.String()), nil
}

// UnmarshalText reads RFC 3339, or nothing.
func (t *Time) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*t = 0
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, string(b))
	*t = At(parsed)
	return err
}
