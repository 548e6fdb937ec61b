package agent

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// Every answer of an agent has the version of the protocol in a header. It covers the paths,
// the JSON of the answers and of changes, and the RBAC resource. The rows of tables have
// their own version, model.Schema.
const (
	VersionHeader = "Plumbline-Agent-Protocol"
	Version       = 5
)

// ErrOlder and ErrNewer mean that the agent has another version of the protocol. Its answer
// is not read: a name that changed would look like something that is not on the node.
var (
	ErrOlder = errors.New("the agent is older than this plumbline: upgrade the agents")
	ErrNewer = errors.New("the agent is newer than this plumbline: upgrade plumbline")
)

// CheckVersion reports whether an answer with this header can be read. Version 1 had no
// header.
func CheckVersion(h http.Header) error {
	switch v, err := strconv.Atoi(h.Get(VersionHeader)); {
	case err != nil, v < Version:
		return ErrOlder
	case v > Version:
		return ErrNewer
	default:
		return nil
	}
}

// How an agent of version 1 refuses: it does not have the path, or asks the API server for a
// right to its old resource. A missing agent gives other errors.
const (
	notServed   = "404 page not found"
	oldResource = "nodefacts." + Group
)

// older replaces the error of an agent of version 1.
func older(err error) error {
	if err != nil && (strings.Contains(err.Error(), notServed) || strings.Contains(err.Error(), oldResource)) {
		return ErrOlder
	}
	return err
}
