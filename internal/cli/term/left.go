package term

import (
	"fmt"

	"plumbline.dev/plumbline/internal/plain"
	"plumbline.dev/plumbline/internal/timeline"
)

// maxLeft is how many parts of logs are named that were not read.
const maxLeft = 10

// PrintLeft says which logs were not read completely. A directory may hold many files that are no
// logs: only some are named.
func PrintLeft(sess *Session, files []timeline.File) {
	n := 0
	for _, f := range files {
		for _, left := range f.Left {
			if n++; n <= maxLeft {
				fmt.Fprintln(sess.Stderr, plain.Line(f.Name+": "+left))
			}
		}
	}
	if n > maxLeft {
		fmt.Fprintf(sess.Stderr, "and %s more; -o json lists them\n", plain.Thousands(n-maxLeft))
	}
	a := timeline.AccountOf(files)
	if example := a.Example(); example != "" && a.Gaps() {
		fmt.Fprintln(sess.Stderr, plain.Line("not understood, for example "+example))
	}
}
