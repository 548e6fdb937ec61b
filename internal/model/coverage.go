package model

// A Coverage is how completely a table was read. The absence of a row means something only
// if the table is Seen.
type Coverage struct {
	Table    Table  `json:"table"`
	Node     string `json:"node,omitempty"` // for node tables
	State    State  `json:"state"`
	Reason   string `json:"reason,omitempty"`   // why it is not complete
	Revision string `json:"revision,omitempty"` // of the collection, as it was read
	At       Time   `json:"at,omitzero"`
	Rows     int    `json:"rows,omitempty"` // that were read
	Extra    Extra  `json:"-"`
}

// A State of coverage.
type State string

// The states. Partial: some rows were read. Lost: none could be read. NotThere: this cluster
// does not have such objects, so the table is complete. Unread: reading was not requested.
const (
	Complete State = "complete"
	Partial  State = "partial"
	Lost     State = "absent"
	NotThere State = "not-there"
	Unread   State = ""
)

// Seen reports whether the absence of a row proves that the object does not exist.
func (s State) Seen() bool { return s == Complete || s == NotThere }
