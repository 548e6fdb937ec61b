// Package agent is the protocol and the client of the node agents: paths, answers and the
// fleet that asks them. The server side is in agent/server.
package agent

import (
	"plumbline.dev/plumbline/internal/model"
)

// Constants of the protocol.
const (
	Port     = 9474
	Audience = "plumbline-agent" // the audience of a token begins with it (Caller)
	Header   = "Plumbline-Token" // the API server's proxy removes Authorization

	PathHealth = "healthz"
	PathDigest = "v1/digest"
	PathTables = "v1/tables"
	PathWatch  = "v1/watch"
	PathVerify = "v1/verify"
	PathEvents = "v1/events"
	PathObject = "v1/object"
	PathChange = "v1/change"
	PathGuard  = "v1/guard"

	// Controller is for whom requests to the controller are signed: no node has that name.
	Controller   = "plumbline:controller"
	PathFindings = "findings"
	HeadOnly     = "head" // a parameter: everything but the findings
	PathUI       = "ui/"

	// The virtual resources whose RBAC rights authorize callers: the state of a node, and lines of its logs, which are
	// about pods of a namespace.
	Group        = "plumbline.dev"
	Resource     = "nodestates"
	LogsResource = "nodelogs"
)

// A Digest is the summary of an agent's state.
type Digest struct {
	Node    string                 `json:"node"`
	Version string                 `json:"version"`
	BootID  string                 `json:"bootID,omitempty"`
	Taken   model.Time             `json:"taken"`
	Tables  map[string]TableDigest `json:"tables"`
	Not     map[string]string      `json:"not,omitempty"` // tables that were not read completely, and why
}

// A TableDigest is the summary of one table: equal sums mean equal rows.
type TableDigest struct {
	Rows int    `json:"rows"`
	Sum  string `json:"sum"`
}
