package agent

import (
	"encoding/json"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// BeatEvery is how often a watch sends something even if nothing has changed.
const BeatEvery = 20 * time.Second

// A Frame is one line of the answer to PathWatch: first all tables, then what has changed, and at
// least once in BeatEvery.
type Frame struct {
	Schema int        `json:"schema"` // of the rows
	Node   string     `json:"node"`
	Start  string     `json:"start"` // of the agent: sequence numbers of another start mean nothing
	Seq    uint64     `json:"seq"`   // of the last change that it has; a watch can go on from there
	Taken  model.Time `json:"taken"` // by the node's clock
	// Whole means that the tables are all there is; else they follow what was sent before.
	Whole  bool         `json:"whole,omitempty"`
	Tables []TableFrame `json:"tables,omitempty"`
}

// A TableFrame has the changes of one table.
type TableFrame struct {
	Coverage model.Coverage    `json:"coverage"`
	Whole    bool              `json:"whole,omitempty"` // the rows are all there is
	Keys     []string          `json:"keys,omitempty"`  // of the rows
	Rows     []json.RawMessage `json:"rows,omitempty"`  // new or changed
	Gone     []string          `json:"gone,omitempty"`  // keys
}
