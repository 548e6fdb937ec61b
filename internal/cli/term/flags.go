package term

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

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

// VerboseFlag adds -v, and -v=N as people type it for kubectl: any number above 0 means yes.
func VerboseFlag(l *pflag.FlagSet, to *bool, usage string) {
	l.VarPF((*verbosity)(to), "verbose", "v", usage).NoOptDefVal = "true"
}

type verbosity bool

func (v *verbosity) String() string { return strconv.FormatBool(bool(*v)) }
func (*verbosity) Type() string     { return "bool" }

func (v *verbosity) Set(s string) error {
	if n, err := strconv.Atoi(s); err == nil {
		*v = n > 0
		return nil
	}
	yes, err := strconv.ParseBool(s)
	*v = verbosity(yes)
	return err
}

// RemoveFlag keeps the name of a flag that was renamed, so that the error names the new one.
// Help does not show it.
func RemoveFlag(l *pflag.FlagSet, name, instead string) {
	l.Var(removedFlag(instead), name, "removed: use --"+instead)
	f := l.Lookup(name)
	f.Hidden, f.NoOptDefVal = true, "true" // it may have been a flag without a value
}

// RemoveShorthand keeps a letter that was given up, so that the error names the flag.
func RemoveShorthand(l *pflag.FlagSet, letter, instead string) {
	f := l.VarPF(removedFlag(instead), "removed-"+letter, letter, "removed: use --"+instead)
	f.Hidden, f.NoOptDefVal = true, "true"
}

// A removedFlag is the name of the flag to use instead.
type removedFlag string

func (removedFlag) String() string     { return "" }
func (f removedFlag) Set(string) error { return errors.New("removed: use --" + string(f)) }
func (removedFlag) Type() string       { return "string" }
