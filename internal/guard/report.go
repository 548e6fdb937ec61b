package guard

import "time"

// A Report is what the keeper of a node's guard says of it, whenever that changes.
type Report struct {
	Node    string    `json:"node"`
	At      time.Time `json:"at"`
	Wanted  Mode      `json:"wanted"`            // by whoever runs the cluster
	Mode    Mode      `json:"mode,omitempty"`    // in force; empty if the guard is not installed
	Why     string    `json:"why,omitempty"`     // it is not what is wanted
	File    string    `json:"file,omitempty"`    // the configuration that the runtime loads
	State   string    `json:"state,omitempty"`   // of that file: patched, plain, foreign, broken
	Put     int       `json:"put,omitempty"`     // how often the guard was put into it: Calico writes it anew
	Program string    `json:"program,omitempty"` // where the guard's is
	Named   int       `json:"named,omitempty"`   // files that still name it, while it is off

	Delegate string `json:"delegate,omitempty"` // type of the plugin that is wrapped
	Version  string `json:"version,omitempty"`
	Keyed    Keying `json:"keyed,omitempty"`

	Tally
	Queue   int    `json:"queue,omitempty"`   // DELs that must still come
	Waiting string `json:"waiting,omitempty"` // why the first of them has not come yet
	Adopted int    `json:"adopted,omitempty"` // sandboxes from before the guard that are on record
	GC      string `json:"gc,omitempty"`      // what became of the last collection
}

// A Tally is what the calls of a boot come to.
type Tally struct {
	Since     time.Time `json:"since"`
	Adds      Times     `json:"adds"`
	Dels      Times     `json:"dels"`
	Late      int       `json:"late,omitempty"`      // DELs
	Stopped   int       `json:"stopped,omitempty"`   // of these, kept from the delegate
	Lost      int       `json:"lost,omitempty"`      // times that a newest owner lost something
	Succeeded int       `json:"succeeded,omitempty"` // errors that were answered with success, rule 11
	Open      int       `json:"open,omitempty"`      // calls in which the guard had troubles of its own
	Endless   []Endless `json:"endless,omitempty"`   // the worst first
}

// Times are how long calls took, in milliseconds.
type Times struct {
	Count  int   `json:"count"`
	Failed int   `json:"failed,omitempty"`
	P50    int64 `json:"p50"`
	P99    int64 `json:"p99"`
}

// Endless is a DEL that fails again and again.
type Endless struct {
	Key
	Namespace string    `json:"namespace,omitempty"`
	Pod       string    `json:"pod,omitempty"`
	Count     int       `json:"count"`
	Since     time.Time `json:"since"`
	Last      time.Time `json:"last"`
	Error     string    `json:"error,omitempty"`
}
