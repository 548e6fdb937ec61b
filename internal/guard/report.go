package guard

import (
	"cmp"
	"time"
)

// ReportSchema is the version of a Report.
const ReportSchema = 2

// A Report is the status of a node's guard. The guard daemon writes it whenever it changes.
type Report struct {
	Schema  int       `json:"schema"`            // version of this report
	Node    string    `json:"node"`              // of the guard daemon
	At      time.Time `json:"at"`                // when the guard daemon wrote it, by the node's clock
	Wanted  Mode      `json:"wanted"`            // the configured mode
	Mode    Mode      `json:"mode,omitempty"`    // in force; empty if the guard is not installed
	Why     string    `json:"why,omitempty"`     // why Mode differs from Wanted
	File    string    `json:"file,omitempty"`    // the CNI configuration that the runtime loads
	State   string    `json:"state,omitempty"`   // of that file: patched, plain, foreign, broken
	Put     int       `json:"put,omitempty"`     // how often the guard was inserted: Calico rewrites the file
	Program string    `json:"program,omitempty"` // path of the guard's program on the host
	Named   int       `json:"named,omitempty"`   // files that still name the guard while it is off

	Delegate string `json:"delegate,omitempty"` // type of the wrapped plugin
	Version  string `json:"version,omitempty"`  // of the wrapped plugin
	Keyed    Keying `json:"keyed,omitempty"`    // how the wrapped plugin finds objects
	Doubt    string `json:"doubt,omitempty"`    // why it is not certain that mode enforce stops late DELs

	Tally
	Queue   int    `json:"queue,omitempty"`   // queued DELs
	Waiting string `json:"waiting,omitempty"` // why the first of them has not run yet
	Adopted int    `json:"adopted,omitempty"` // sandboxes older than the guard that have an ownership record
	GC      string `json:"gc,omitempty"`      // result of the last garbage collection
}

// Unprotected returns why a late DEL may destroy a newer pod although the guard is
// configured to enforce; empty if it cannot, or the guard is not configured to.
func (r *Report) Unprotected() string {
	switch {
	case r.Wanted != Enforce:
		return ""
	case r.Mode != Enforce:
		return cmp.Or(r.Why, "the CNI configuration does not name the guard")
	default:
		return r.Doubt
	}
}

// A Tally counts the calls since the node booted.
type Tally struct {
	Since     time.Time `json:"since"` // the first counted call
	Adds      Times     `json:"adds"`
	Dels      Times     `json:"dels"`
	Late      int       `json:"late,omitempty"`      // DELs
	Stopped   int       `json:"stopped,omitempty"`   // of the late DELs, those not passed on
	Lost      int       `json:"lost,omitempty"`      // late DELs by which a newest owner lost something
	Succeeded int       `json:"succeeded,omitempty"` // errors that were answered with success, rule 11
	Open      int       `json:"open,omitempty"`      // calls in which the guard itself had an error
	Endless   []Endless `json:"retried,omitempty"`   // the most retried first
}

// Times are the durations of calls, in milliseconds.
type Times struct {
	Count  int   `json:"count"`            // of calls
	Failed int   `json:"failed,omitempty"` // of the calls, those that failed
	P50    int64 `json:"p50"`              // half of the calls took no longer
	P99    int64 `json:"p99"`              // 99 of 100 calls took no longer
}

// Endless is a retried DEL: the runtime repeats it, and it fails each time.
type Endless struct {
	Key
	Namespace string    `json:"namespace,omitempty"` // of the pod
	Pod       string    `json:"pod,omitempty"`       // of the sandbox
	Count     int       `json:"count"`               // of DELs
	Since     time.Time `json:"since"`               // the first of them
	Last      time.Time `json:"last"`                // the newest of them
	Error     string    `json:"error,omitempty"`     // of the newest
}
