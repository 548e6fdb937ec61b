package term

import "fmt"

// An Exit ends a command with this code, without an error message.
type Exit int

func (e Exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Exit codes; 0 is success.
const (
	ExitFindings Exit = 1
	ExitUsage    Exit = 2 // usage, or the cluster could not be read
	ExitGaps     Exit = 3 // no findings, but something in scope was not read
)
