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

	PathHealth  = "healthz"
	PathDigest  = "v1/digest"
	PathTables  = "v1/tables"
	PathWitness = "v1/witness"
	PathFlight  = "v1/flight"

	// The virtual resource whose rights decide who may ask.
	Group    = "plumbline.dev"
	Resource = "nodefacts"
)

// A Digest is what an agent says in short.
type Digest struct {
	Node    string            `json:"node"`
	Version string            `json:"version"`
	BootID  string            `json:"bootID,omitempty"`
	Taken   model.Time        `json:"taken"`
	Tables  map[string]Shelf  `json:"tables"`
	Not     map[string]string `json:"not,omitempty"` // tables that are not seen in full, and why
}

// A Shelf is one table in short: the same sum means the same rows.
type Shelf struct {
	Rows int    `json:"rows"`
	Sum  string `json:"sum"`
}

// A Witness is all that a node can say about an address or a container, read at once and
// now. It is what a repair relies on. Not Complete means unknown. It proves something only
// about a record that was read before the witness was asked: a call that begins and ends
// in between takes what that record then no longer shows as it was.
type Witness struct {
	Node      string     `json:"node"`
	Taken     model.Time `json:"taken"`
	IP        string     `json:"ip,omitempty"`
	Container string     `json:"container,omitempty"`

	Complete bool     `json:"complete"`
	Missing  []string `json:"missing,omitempty"` // what could not be seen, and why

	Sandboxes   []model.Sandbox    `json:"sandboxes,omitempty"`   // in every state, of that container or with that address
	Attachments []model.Attachment `json:"attachments,omitempty"` // of every namespace, likewise
	Calls       []model.Process    `json:"calls,omitempty"`       // every CNI call under way: a sandbox in the making is in no list
	Results     []model.CNIResult  `json:"results,omitempty"`     // likewise; a record alone uses nothing
	Links       []model.Link       `json:"links,omitempty"`       // devices of the host that have the address
	BootID      string             `json:"bootID"`
	Uptime      int64              `json:"uptime"` // seconds
	NodeName    string             `json:"nodeName"`
	CalicoName  string             `json:"calicoName,omitempty"`
	ConfigName  string             `json:"configName,omitempty"` // node name in the loaded CNI configuration
}

// Quiet tells that the node has proven that nothing on it uses what was asked about, and
// that nothing is in the making which could.
func (w *Witness) Quiet() bool {
	return w.Complete && len(w.Sandboxes) == 0 && len(w.Attachments) == 0 && len(w.Calls) == 0 && len(w.Links) == 0
}
