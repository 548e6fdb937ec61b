package executetest

// An excuse is why the oracle does not call something harm. There is no other.
type excuse string

const (
	// A machine without a Node object is not known to Kubernetes, and nobody can ask it.
	noNode excuse = "machine without a Node object"
)
