package model

// A Guard is what the guard daemon of a node reports. There is one row, or none if no guard
// was installed since the node booted.
type Guard struct {
	Node        string `json:"-"`
	Wanted      string `json:"wanted"`                // configured mode
	Mode        string `json:"mode,omitempty"`        // mode in force; empty if the CNI configuration does not name the guard
	Version     string `json:"version,omitempty"`     // of the wrapped plugin
	Unprotected string `json:"unprotected,omitempty"` // why late DELs may reach newer pods although the mode is to be enforce
	Silent      bool   `json:"silent,omitempty"`      // the guard daemon has not reported for minutes
	Since       Time   `json:"since,omitzero"`
	Extra       Extra  `json:"-"`
}

// GuardOf returns the guard of a node; nil if there is none, or it was not read.
func (v *View) GuardOf(node string) *Guard {
	v.touched[Guards] = true
	if rows := v.stateOf(node).Guards; len(rows) > 0 {
		return &rows[0]
	}
	return nil
}
