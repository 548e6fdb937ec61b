package cli

import "fmt"

// An exit ends a command with this code, without an error message.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit codes; 0 is success.
const (
	exitFindings exit = 1
	exitUsage    exit = 2 // usage, or the cluster could not be read
	exitGaps     exit = 3 // no findings, but something in scope was not read
)
