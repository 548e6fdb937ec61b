package timeline

import (
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/timeline"
)

// maxLeft is how many parts of logs are named that were not read.
const maxLeft = 10

// printLeft says which logs were not read completely. A directory may hold many files that are no
// logs: only some are named.
func printLeft(sess *term.Session, files []timeline.File) {
	printClocks(sess, files)
	n := 0
	for _, f := range files {
		for _, left := range f.Left {
			if n++; n <= maxLeft {
				fmt.Fprintln(sess.Stderr, term.Line(f.Name+": "+left))
			}
		}
	}
	if n > maxLeft {
		fmt.Fprintf(sess.Stderr, "and %s more; -o json lists them\n", term.Thousands(n-maxLeft))
	}
}

// printClocks says of which nodes the times are corrected. What is known is how far a clock is
// off now: before somebody set it, or the machine stood still, it may have been right.
func printClocks(sess *term.Session, files []timeline.File) {
	said := map[string]bool{}
	for _, f := range files {
		if f.Ahead == 0 || said[f.Node] {
			continue
		}
		said[f.Node] = true
		fmt.Fprintf(sess.Stderr, "%s: its clock differs from the API server's by %s now; times of its logs are corrected by that\n",
			term.Line(f.Node), cluster.ClockOff(time.Duration(f.Ahead)*time.Second))
	}
}
