// Package timeline has the logs read that real components wrote while an incident was
// played; it is all tests.
package timeline
