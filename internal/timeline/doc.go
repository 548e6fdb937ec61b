// Package timeline shows from logs what happened to a pod's network, and which call did it.
// Lines become records (package records), records become events (package parse), the events
// of one pod name become a Story, and Judge adds its verdicts. Nothing here opens a file or
// reads a clock: readers and times are passed in.
package timeline
