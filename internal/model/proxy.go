package model

// A Proxy is the state of kube-proxy on a node. There is one row.
type Proxy struct {
	Node  string `json:"-"`
	State string `json:"state"` // ready, not ready, no answer, stopped, runs (and does not report), not running, or unknown
	// Process means that it has a process of its own; k3s has it in another.
	Process bool  `json:"process,omitempty"`
	Since   Time  `json:"since,omitzero"`
	Extra   Extra `json:"-"`
}

// ProxyOf is kube-proxy of a node; nil if nothing was read.
func (v *View) ProxyOf(node string) *Proxy {
	v.touched[Proxies] = true
	if rows := v.stateOf(node).Proxies; len(rows) > 0 {
		return &rows[0]
	}
	return nil
}
