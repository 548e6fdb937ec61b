// Package rtnl asks the kernel about one network namespace by netlink; the few requests
// that change something are in one file. It reads on its own because what it reads is not ours: any pod can make a
// namespace and fill it with a million routes, and a library that collects the whole
// answer first would hold them all. Here every dump is bounded, and one that was
// interrupted or cut short is never taken for a whole one.
package rtnl

import "errors"

// ErrPartial means that some rows were read but not all.
var ErrPartial = errors.New("not all was read")
