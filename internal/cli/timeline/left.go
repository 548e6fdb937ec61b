package timeline

import (
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/timeline"
)

// printLeft says which logs were not read completely or not understood, and whose times are
// corrected.
func printLeft(sess *term.Session, files []timeline.File) {
	printClocks(sess, files)
	term.PrintLeft(sess, files)
}

// exit is 3 if a part of the logs was not read or not understood: nothing is known of it.
func exit(files []timeline.File, missing []string) error {
	if a := timeline.AccountOf(files); a.Gaps() || len(missing) > 0 {
		return term.ExitGaps
	}
	return nil
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
			plain.Line(f.Node), cluster.ClockOff(time.Duration(f.Ahead)*time.Second))
	}
}
