// Package cniconf inserts the guard into the CNI configuration that the runtime loads, and
// removes it. Only Calico's entry changes: it becomes the guard's delegate, verbatim. All
// other bytes stay as they are, so documents are edited by offset and never rewritten.
package cniconf

import "errors"

// Guard is the guard's plugin type, which is also the name of its binary.
const Guard = "plumbline-cni"

const (
	calico   = "calico"
	maxSize  = 1 << 20
	maxDepth = 64
)

// Why a configuration is not changed.
var (
	// errBroken: it is not a network configuration; it may be half written.
	errBroken = errors.New("not a network configuration")
	// ErrForeign: it is one, but it has no entry that the guard may wrap.
	ErrForeign = errors.New("not changed by the guard")
)

// A State is the relation of a configuration to the guard.
type State string

// The states of a configuration.
const (
	Patched State = "patched" // the guard wraps Calico's entry
	Plain   State = "plain"   // Calico's entry without the guard
	Foreign State = "foreign" // no entry of Calico, or one that is not understood
	Broken  State = "broken"  // invalid, or not completely written
)
