package records

import (
	"io"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// An Input is one file, or one stream.
type Input struct {
	Name    string // as a person would look it up
	Node    string // whose it is, if its path says so
	ModTime time.Time
	Zone    *time.Location // of stamps that have none, if it is known; a fixed one
	Open    func() (io.ReadCloser, error)
}

// Options say what is done with the records.
type Options struct {
	Now     time.Time // for stamps without a year, where nothing else tells it
	Workers int       // how many lines are looked at side by side; 0 means two
	// Wants tells whether a record may be of use. It is called for every line, from several
	// goroutines at once, and must keep nothing. The record has no time, no place and no node
	// of its file yet: these need what came before it.
	Wants func(*Record) bool
	// Teller gives who is told the wanted records of one file, in their order; files may be
	// told of side by side. The file's facts are complete when it has been read.
	Parser func(number uint16, f *timeline.File) func(*Record)
}
