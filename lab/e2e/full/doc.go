// Package full runs every scenario in each of its modes; the tests need the lab and are
// built with the tag e2e.
package full
