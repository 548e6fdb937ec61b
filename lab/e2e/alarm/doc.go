// Package alarm checks a churning cluster again and again: nothing may be found that is
// not there, and all that is there must be found in time. It needs the lab and is built
// with the tag e2e.
package alarm
