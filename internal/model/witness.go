package model

// A Verification is all that a node can say about addresses and containers, read at once and
// now. It is what a repair relies on. Not Complete means unknown. It proves something only
// about a record that was read before the witness was asked: a call that begins and ends
// in between takes what that record then no longer shows as it was.
type Verification struct {
	Node       string   `json:"node"`
	Taken      Time     `json:"taken"`
	IPs        []string `json:"ips,omitempty"`        // what was asked about
	Containers []string `json:"containers,omitempty"` // likewise
	All        bool     `json:"all,omitempty"`        // it names every sandbox, record and call of the node

	Complete bool     `json:"complete"`
	Missing  []string `json:"missing,omitempty"` // what could not be seen, and why

	Sandboxes   []Sandbox    `json:"sandboxes,omitempty"`   // in every state, of those containers or with those addresses
	Attachments []Attachment `json:"attachments,omitempty"` // of every namespace, likewise
	Calls       []Process    `json:"calls,omitempty"`       // every CNI call under way: a sandbox in the making is in no list
	Results     []CNIResult  `json:"results,omitempty"`     // likewise; a record alone uses nothing
	Links       []Link       `json:"links,omitempty"`       // devices of the host that have an address
	BootID      string       `json:"bootID"`
	Uptime      int64        `json:"uptime"` // seconds
	NodeName    string       `json:"nodeName"`
	CalicoName  string       `json:"calicoName,omitempty"`
	ConfigName  string       `json:"configName,omitempty"` // node name in the loaded CNI configuration
	Network     string       `json:"network,omitempty"`    // name of the loaded CNI configuration: handles begin with it
}

// Quiet tells that the node has proven that nothing on it uses what was asked about, and
// that nothing is in the making which could.
func (w *Verification) Quiet() bool {
	return w.Complete && len(w.Sandboxes) == 0 && len(w.Attachments) == 0 && len(w.Calls) == 0 && len(w.Links) == 0
}
