// Package full plays every scenario in each mode that it has; they need the lab and
// are built with the tag e2e.
package full
