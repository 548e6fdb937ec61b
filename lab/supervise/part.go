// Package supervise is the first process of a PID namespace: it starts, signals
// and reaps the parts it is told to run. It decides nothing; who asks over its
// socket does. When it dies, the kernel ends everything below it, which is how a
// lab leaves no process behind.
package supervise

import "syscall"

// A Part is one process that the supervisor looks after.
type Part struct {
	Name string   `json:"name"`
	Argv []string `json:"argv"`
	Env  []string `json:"env,omitempty"`
	Log  string   `json:"log"` // takes stdout and stderr, appended

	// RestartOn lists exit codes after which the part is started again, as its
	// container would be: Felix ends with 129 when its configuration changed.
	RestartOn []int `json:"restartOn,omitempty"`

	// Namespaces makes the part the first process of a node: it gets network,
	// mount, PID, host name and IPC namespaces of its own.
	Namespaces bool `json:"namespaces,omitempty"`
}

// Status says how a part is doing. PID is as seen from the supervisor.
type Status struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Running bool   `json:"running"`
	Down    bool   `json:"down,omitempty"` // told to end: it is meant to stay down
	Exit    string `json:"exit,omitempty"` // how it last ended
	Starts  int    `json:"starts"`
	Log     string `json:"log"`
}

// AnyExit in RestartOn stands for every exit code.
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
