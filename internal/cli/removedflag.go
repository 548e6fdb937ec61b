package cli

import (
	"errors"

	"github.com/spf13/pflag"
)

// removeFlag keeps the name of a flag that was renamed, so that the error names the new one.
// Help does not show it.
func removeFlag(l *pflag.FlagSet, name, instead string) {
	l.Var(removedFlag(instead), name, "removed: use --"+instead)
	f := l.Lookup(name)
	f.Hidden, f.NoOptDefVal = true, "true" // it may have been a flag without a value
}

// A removedFlag is the name of the flag to use instead.
type removedFlag string

func (removedFlag) String() string     { return "" }
func (f removedFlag) Set(string) error { return errors.New("removed: use --" + string(f)) }
func (removedFlag) Type() string       { return "string" }
