// Package cniconf puts the guard into the CNI configuration that the runtime really loads,
// and takes it out again. Only Calico's entry is touched: it becomes the guard's
// delegate, verbatim. What belongs to others comes out byte for byte as it went in,
// therefore documents are edited by offsets and never written anew.
package cniconf

import "errors"

// Guard is the guard's plugin type, which is also the name of its binary.
const Guard = "plumbline-cni"

const (
	calico   = "calico"
	maxSize  = 1 << 20
	maxDepth = 64
)

// Why a configuration is not touched.
var (
	// ErrBroken: it is no network configuration; it may be half written.
	ErrBroken = errors.New("not a network configuration")
	// ErrForeign: it is one, but there is nothing in it that we may wrap.
	ErrForeign = errors.New("not ours to change")
)

// A State is how a configuration stands to the guard.
type State string

// The states of a configuration.
const (
	Patched State = "patched" // the guard stands before Calico's entry
	Plain   State = "plain"   // Calico's entry, without the guard
	Foreign State = "foreign" // nothing for us, or nothing that we understand
	Broken  State = "broken"  // cannot be read, or not yet
)
