package guard

import "time"

// A Mode says whether the guard may change calls and answers.
type Mode string

// The modes. Observe is the default: everything is recorded, nothing is changed.
const (
	Observe Mode = "observe"
	Enforce Mode = "enforce"
	Off     Mode = "off" // calls are passed on, and nothing else is done
)

// A Keying says how a delegate finds the objects that a DEL deletes.
type Keying string

// The ways to find them. A delegate that is not in the table is NotKnown and treated as
// ByContainer: the call is passed on.
const (
	ByContainer Keying = "container"
	ByName      Keying = "name"
	ByBoth      Keying = "both" // by container, and then also by name: see keyed.go
	NotKnown    Keying = "unknown"
)

// Known is what the ownership record holds when a call arrives.
type Known struct {
	Own     *Owner // record of the call's attachment; nil if there is none
	Newest  *Owner // newest owner of the call's name; nil if nobody owns it
	Running bool   // the process that runs Own's ADD is running
	Keyed   Keying
	Mode    Mode
}

// A Decision is what the guard does with a call. Invariant: not Forward means that the
// delegate is not called with the call as it came; Unnamed and Inside then say what is done
// instead.
type Decision struct {
	Rule    int           // the rule in docs/guard.md that it follows; 0 if none
	Late    bool          // DEL of an older sandbox, and the name has a newer owner
	Wait    time.Duration // how long to wait for the attachment's own ADD; after that the ADD is ended
	Forward bool          // the delegate is called
	Unnamed bool          // its IPAM plugin is called instead, without the pod's name: see keyed.go
	Inside  bool          // only the interface inside the sandbox's own namespace is deleted
	Confirm bool          // check the newest owner before and after, and report what it lost
	Again   time.Duration // when the DEL is repeated, because the ADD may still assign something; 0: never
	Queue   bool          // the part that was not done is queued
	Says    string        // the reason, for the event log
}
