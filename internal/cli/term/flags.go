package term

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// OutputOneOf checks the value of -o.
func OutputOneOf(output string, want ...string) error {
	if slices.Contains(want, output) {
		return nil
	}
	last := len(want) - 1
	return fmt.Errorf("-o %s: want %s or %s", output, strings.Join(want[:last], ", "), want[last])
}

// ParseTime reads a time, or a duration before now; nothing is the zero time.
func ParseTime(s string, now time.Time) (time.Time, error) {
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

// RemoveFlag keeps the name of a flag that was renamed, so that the error names the new one.
// Help does not show it.
func RemoveFlag(l *pflag.FlagSet, name, instead string) {
	l.Var(removedFlag(instead), name, "removed: use --"+instead)
	f := l.Lookup(name)
	f.Hidden, f.NoOptDefVal = true, "true" // it may have been a flag without a value
}

// A removedFlag is the name of the flag to use instead.
type removedFlag string

func (removedFlag) String() string     { return "" }
func (f removedFlag) Set(string) error { return errors.New("removed: use --" + string(f)) }
func (removedFlag) Type() string       { return "string" }
