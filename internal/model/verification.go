package model

// A Verification is the live verification by the agent of a node: everything on the node that
// concerns the given addresses and containers, read now. Repairs depend on it. If Complete is
// false, nothing is known. It is valid only for a record that was read before the agent was
// asked: otherwise a CNI call that begins and ends in between changes the record unnoticed.
type Verification struct {
	Node       string   `json:"node"`
	Taken      Time     `json:"taken"`
	IPs        []string `json:"ips,omitempty"`        // the addresses of the request
	Containers []string `json:"containers,omitempty"` // the containers of the request
	All        bool     `json:"all,omitempty"`        // contains every sandbox, cached result and CNI call of the node

	Complete bool     `json:"complete"`          // everything could be read; invariant: then Missing is empty
	Missing  []string `json:"missing,omitempty"` // what could not be read, and why

	Sandboxes   []Sandbox    `json:"sandboxes,omitempty"`   // in every state, of these containers or with these addresses
	Attachments []Attachment `json:"attachments,omitempty"` // of every network namespace, likewise
	Calls       []Process    `json:"calls,omitempty"`       // CNI calls in progress: a sandbox that is starting is in no other list
	Results     []CNIResult  `json:"results,omitempty"`     // cached results, likewise; a result alone uses nothing
	Links       []Link       `json:"links,omitempty"`       // host interfaces that have one of the addresses
	BootID      string       `json:"bootID"`
	Uptime      int64        `json:"uptime"` // seconds
	NodeName    string       `json:"nodeName"`
	CalicoName  string       `json:"calicoName,omitempty"`
	ConfigName  string       `json:"configName,omitempty"` // node name in the loaded CNI configuration
	Network     string       `json:"network,omitempty"`    // name of the loaded CNI configuration: handles begin with it
}

// Quiet reports whether it is verified that nothing on the node uses the addresses and
// containers, and that no CNI call that could is in progress.
func (w *Verification) Quiet() bool {
	return w.Complete && len(w.Sandboxes) == 0 && len(w.Attachments) == 0 && len(w.Calls) == 0 && len(w.Links) == 0
}
