// Package outside tests the lab from the outside: the built command, and that a lab does
// not affect the machine.
package outside
