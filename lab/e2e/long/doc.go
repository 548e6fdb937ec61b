// Package long has the tests that take long: cycles, kills at random moments, churn.
// They need the lab and are built with the tag e2e.
package long
