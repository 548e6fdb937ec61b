package change

import "slices"

// A Risk says how a repair may affect running pods.
type Risk string

// The risks, the smallest first.
const (
	Safe        Risk = "safe"        // changes only what is not in use
	Disruptive  Risk = "disruptive"  // may affect a pod or a route
	Destructive Risk = "destructive" // a pod restarts
)

// Level orders risks; an unknown risk is the highest.
func (r Risk) Level() int {
	if i := slices.Index([]Risk{Safe, Disruptive, Destructive}, r); i >= 0 {
		return i
	}
	return 99
}

// Known reports that it is one of the risks.
func (r Risk) Known() bool { return r.Level() <= Destructive.Level() }
