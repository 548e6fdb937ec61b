package journal

import (
	"path"
	"strings"
)

// IsFile reports whether a file has the name of a journal file. Those that journald found damaged
// and put aside end with ~.
func IsFile(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, "~"), ".journal")
}

// IsUser reports whether a journal file has the name of the journal of a user, in which no service
// of the system writes.
func IsUser(name string) bool {
	return IsFile(name) && strings.HasPrefix(path.Base(name), "user-")
}
