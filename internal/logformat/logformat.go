// Package logformat is the flag --log-format of the daemons: text for people, json for collectors of logs. It writes nothing
// by itself.
package logformat

import (
	"flag"
	"fmt"
	"io"
	"log/slog"
)

// A Format is text, the zero value, or json.
type Format struct{ json bool }

// Var adds the flag to a set.
func Var(set *flag.FlagSet, f *Format) { set.Var(f, "log-format", "text or json") }

func (f *Format) String() string {
	if f.json {
		return "json"
	}
	return "text"
}

// Set reads the flag's value.
func (f *Format) Set(s string) error {
	if s != "text" && s != "json" {
		return fmt.Errorf("want text or json")
	}
	f.json = s == "json"
	return nil
}

// Logger returns one that writes in this format.
func (f *Format) Logger(w io.Writer) *slog.Logger {
	if f.json {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}
