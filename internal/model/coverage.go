package model

// A Coverage says how much of a table was seen. Absence of a row means something
// only where the table is complete.
type Coverage struct {
	Table    Table  `json:"table"`
	Node     string `json:"node,omitempty"` // for a node's own tables
	State    State  `json:"state"`
	Reason   string `json:"reason,omitempty"` // why it is not complete
	Revision string `json:"revision,omitempty"`
	At       Time   `json:"at,omitzero"`
	Rows     int    `json:"rows,omitempty"`
	Extra    Extra  `json:"-"`
}

// A State of coverage.
type State string

// The states. Unread is a table that nobody was asked to read: out of scope.
// NotThere is one that this cluster does not have, which is a complete answer.
const (
	Complete State = "complete"
	Partial  State = "partial"
	Lost     State = "absent"
	NotThere State = "not-there"
	Unread   State = ""
)

// Seen tells whether absence of a row proves anything.
func (s State) Seen() bool { return s == Complete || s == NotThere }
