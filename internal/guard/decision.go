package guard

import "time"

// A Mode says whether answers may be changed.
type Mode string

// The modes. Observe is the default: all is recorded, nothing is changed.
const (
	Observe Mode = "observe"
	Enforce Mode = "enforce"
	Off     Mode = "off" // calls are handed on, and nothing else is done
)

// A Keying says by what a delegate finds what it is to delete.
type Keying string

// The ways of finding it. Of a delegate that is not in the table nothing is known, and
// it is treated as one that finds by container: the call is passed on.
const (
	ByContainer Keying = "container"
	ByName      Keying = "name"
	ByBoth      Keying = "both" // by container, and once more by name: see keyed.go
	NotKnown    Keying = "unknown"
)

// Known is what is on record when a call comes.
type Known struct {
	Own     *Owner // of the call's attachment; nil if there is none
	Newest  *Owner // of the call's name; nil if nobody has it
	Running bool   // the process that runs Own's ADD lives
	Keyed   Keying
	Mode    Mode
}

// A Decision is what is done with a call. Rule is the line of the table in
// docs/guard.md that it follows.
type Decision struct {
	Rule    int
	Late    bool          // it is an older sandbox's DEL, and the name has a newer owner
	Wait    time.Duration // for the attachment's own ADD to end, at most; then its group is killed
	Forward bool          // the delegate is called
	Unnamed bool          // its IPAM plugin is called instead, without the pod's name: see keyed.go
	Inside  bool          // only what is inside the sandbox's own namespace is deleted
	Confirm bool          // afterwards, that the newest owner has all that it had
	Again   time.Duration // after which another DEL is due, for the delegate may finish later; 0: none
	Queue   bool          // what was not done is to be done later
	Says    string        // why, for the record
}
