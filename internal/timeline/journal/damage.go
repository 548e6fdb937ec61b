package journal

import "fmt"

// A Damage is one kind of thing that could not be read in a file, or only by other means than
// journalctl uses.
type Damage struct {
	What        string
	Count       int
	First, Last int64  // offsets in the file
	Reason      string // of the first
}

// What may be wrong with a file.
const (
	badHeader      = "header fields not valid"
	shortFile      = "bytes missing at the end of the file"
	badArray       = "entry arrays not readable, so that entries are searched object by object"
	badEntry       = "entries not readable"
	lostEntry      = "entries that the header counts and that were not found"
	unlinkedEntry  = "entries found that no entry array refers to"
	unwrittenEntry = "entries not completely written"
	badData        = "fields not readable"
	badHash        = "fields that differ from their hash"
	badXorHash     = "entries whose fields differ from their hash"
	cutField       = "fields cut because they are too long"
	badTable       = "data hash table not readable, so that all entries are searched"
	badObject      = "places with no object, after which the next one was searched"
	tooMuchWork    = "entries and fields left out because the file needs more work than its size allows"
)

// String gives what, how many, where and why.
func (d Damage) String() string {
	at := fmt.Sprintf("at offset %d", d.First)
	if d.Last != d.First {
		at = fmt.Sprintf("at offsets %d to %d", d.First, d.Last)
	}
	if d.Reason != "" {
		at += ": " + d.Reason
	}
	return fmt.Sprintf("%s: %d, %s", d.What, d.Count, at)
}

// Damage gives what could not be read so far, in the order in which it was found.
func (f *File) Damage() []Damage { return f.damaged }

// damage counts n things that could not be read at an offset; err may be nil.
func (f *File) damage(what string, n int, offset int64, err error) {
	for i := range f.damaged {
		if d := &f.damaged[i]; d.What == what {
			d.Count += n
			d.First, d.Last = min(d.First, offset), max(d.Last, offset)
			return
		}
	}
	d := Damage{What: what, Count: n, First: offset, Last: offset}
	if err != nil {
		d.Reason = err.Error()
	}
	f.damaged = append(f.damaged, d)
}
