// Package guard decides what happens to a CNI call: which sandbox it belongs to, whether it
// is late, whether it is passed on. It runs nothing and reads nothing: it is given the call
// and the ownership record and returns a decision.
package guard
