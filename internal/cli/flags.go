package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// oneOf checks the value of -o.
func oneOf(output string, want ...string) error {
	if slices.Contains(want, output) {
		return nil
	}
	last := len(want) - 1
	return fmt.Errorf("-o %s: want %s or %s", output, strings.Join(want[:last], ", "), want[last])
}

// moment reads a time, or a duration before now; nothing is the zero time.
func moment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a time such as 2006-01-02T15:04:05Z nor a duration such as 2h", s)
}
