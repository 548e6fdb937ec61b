// Package gate holds the end-to-end tests that every change must pass; they need
// the lab and are built with the tag e2e.
package gate
