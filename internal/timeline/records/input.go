package records

import (
	"io"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// An Input is one file, or one stream.
type Input struct {
	Name    string // as shown to the user
	Node    string // the node it is from, if its path shows it
	ModTime time.Time
	Zone    *time.Location // for timestamps without a zone, if known; a fixed offset
	Ahead   time.Duration  // by which its node's clock is known to be ahead: its times are corrected
	Open    func() (io.ReadCloser, error)
	Stream  bool // Open can be called once only
}

// Options configure All.
type Options struct {
	Now     time.Time // for timestamps without a year, if nothing else shows it
	Workers int       // number of goroutines that search chunks; 0 means two
	// Wants reports whether a record may be of use. It is called for every line, from several
	// goroutines, and must keep nothing. The record has no time, no place and no node of its
	// file yet: these depend on the lines before it.
	Wants func(*Record) bool
	// Knows reports whether a line is of a form and of a component that Parser knows, whatever it
	// says; nil: all are. It is called like Wants. File.Unknown counts the others.
	Knows func(*Record) bool
	// Parser gives the function that is called with the wanted records of one file, in file
	// order; it is called for several files in parallel. f is complete when All returns.
	Parser func(number uint16, f *timeline.File) func(*Record)
}
