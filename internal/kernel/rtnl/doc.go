// Package rtnl reads one network namespace by netlink; the few requests that change
// something are in one file. It does not use a library because the data is untrusted: any
// pod can create a namespace and fill it with a million routes, and a library that collects
// the whole answer first would hold them all. Here every dump is bounded, and one that was
// interrupted or truncated is never taken for a complete one.
package rtnl

import "errors"

// ErrPartial means that some rows were read but not all.
var ErrPartial = errors.New("not everything was read")
