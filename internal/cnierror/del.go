// Package cnierror recognises what kubelets and container runtimes write when a CNI call fails.
package cnierror

import (
	"regexp"
	"strings"
)

// What the runtimes write when a DEL fails: containerd, CRI-O, dockershim, libcni. A sandbox
// that cannot be stopped is not enough: a process that cannot end causes that as well.
var (
	failedDel = regexp.MustCompile(`destroy network for |failed to teardown pod (?:\\?"[^"]*" network)?|from CNI network|failed \(delete\)`)
	sandboxID = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
)

// IsFailedDel reports whether a message is about a DEL that failed.
func IsFailedDel(message string) bool { return failedDel.MatchString(message) }

// Sandbox is the ID of the sandbox in a message; empty if it names none.
func Sandbox(message string) string { return sandboxID.FindString(message) }

// DelReason is the end of a message about a failed DEL, which contains the reason: the text that
// kubelet and runtime put before it is long and always the same. It is the whole message if
// that is about something else.
func DelReason(message string) string {
	at := failedDel.FindStringIndex(message)
	if at == nil {
		return message
	}
	rest := message[at[1]:]
	if id := sandboxID.FindStringIndex(rest); id != nil {
		rest = rest[id[1]:]
	}
	rest = strings.TrimLeft(rest, `\": `)
	if end := strings.Index(rest, `" podSandboxID=`); end > 0 { // the kubelet's next field
		rest = rest[:end]
	}
	rest = strings.ReplaceAll(rest, `\"`, `"`)
	rest = strings.TrimRight(rest, `\"] `)
	if rest == "" {
		return message
	}
	return rest
}
