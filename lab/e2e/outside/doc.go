// Package outside tests the lab from where a person stands: the built command, and
// a machine that must not notice anything.
package outside
