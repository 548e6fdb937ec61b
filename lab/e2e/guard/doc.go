// Package guard tests that the guard prevents incidents that the other packages only
// reproduce; it has tests only.
package guard
