// Package supervise is the first process of a PID namespace: on request over its socket
// it starts, signals and reaps parts. It makes no decisions itself. When it exits, the
// kernel ends everything below it, so that a lab leaves no process behind.
package supervise

import "syscall"

// A Part is one process that the supervisor manages.
type Part struct {
	Name string   `json:"name"`
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"`
	Log  string   `json:"log"` // takes stdout and stderr, appended

	// RestartOn lists exit codes after which the part is restarted, as its container would
	// be: Felix exits with 129 when its configuration changed.
	RestartOn []int `json:"restartOn,omitempty"`

	// Namespaces makes the part the first process of a node, with its own network, mount,
	// PID, host name and IPC namespaces.
	Namespaces bool `json:"namespaces,omitempty"`

	// Self runs the supervisor's own program instead of Argv[0].
	Self bool `json:"self,omitempty"`
}

// Status is the state of a part. PID is the one in the supervisor's namespace.
type Status struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Running bool   `json:"running"`
	Down    bool   `json:"down,omitempty"` // stopped on request: it is not restarted
	Exit    string `json:"exit,omitempty"` // how it last ended
	Starts  int    `json:"starts"`
	Log     string `json:"log"`
}

// AnyExit in RestartOn means every exit code.
const AnyExit = -1

const nodeNamespaces = syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID |
	syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC

type operation string

const (
	opStart  operation = "start"
	opAgain  operation = "again"
	opSignal operation = "signal"
	opStatus operation = "status"
)

type request struct {
	Op     operation      `json:"op"`
	Part   *Part          `json:"part,omitempty"`
	Name   string         `json:"name,omitempty"`
	Signal syscall.Signal `json:"signal,omitempty"`
}

type response struct {
	Error  string   `json:"error,omitempty"`
	Status []Status `json:"status,omitempty"`
}
