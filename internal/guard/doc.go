// Package guard decides what becomes of a CNI call: whose it is, whether it comes late,
// whether it is passed on. It runs nothing and reads nothing: it is given the call and
// what is on record, and says what is to be done.
package guard
