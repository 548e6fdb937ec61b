// Package guard has incidents prevented that the other packages only look at; it is all
// tests.
package guard
