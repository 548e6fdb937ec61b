// Package agent is how one talks to the agents of the nodes: the paths, the answers and
// the client. What an agent does to answer is in agent/server.
package agent

import (
	"plumbline.dev/plumbline/internal/model"
)

// What client and server agree on.
const (
	Port     = 9474
	Audience = "plumbline-agent" // for which a token must be made
	Header   = "Plumbline-Token" // the API server's proxy takes Authorization away

	PathHealth = "healthz"
	PathDigest = "v1/digest"
	PathTables = "v1/tables"
	PathVerify = "v1/witness"
	PathEvents = "v1/flight"
	PathThing  = "v1/thing"
	PathChange = "v1/change"
	PathGuard  = "v1/guard"

	// The virtual resource whose rights decide who may ask.
	Group    = "plumbline.dev"
	Resource = "nodefacts"
)

// RepairAudience is for whom a token must be made that lets one change something: one node.
// Each agent sees the tokens that it is shown, and could show them to the others.
func RepairAudience(node string) string { return Audience + "/" + node }

// A Digest is what an agent says in short.
type Digest struct {
	Node    string                 `json:"node"`
	Version string                 `json:"version"`
	BootID  string                 `json:"bootID,omitempty"`
	Taken   model.Time             `json:"taken"`
	Tables  map[string]TableDigest `json:"tables"`
	Not     map[string]string      `json:"not,omitempty"` // tables that are not seen in full, and why
}

// A TableDigest is one table in short: the same sum means the same rows.
type TableDigest struct {
	Rows int    `json:"rows"`
	Sum  string `json:"sum"`
}
