package repair

import (
	"encoding/json"

	"plumbline.dev/plumbline/internal/model"
)

// An Outcome is what became of a step.
type Outcome string

// The outcomes. Intent is written before the world is changed: a journal that ends in one
// was cut off there.
const (
	Intent  Outcome = "intent"
	Done    Outcome = "done"
	Already Outcome = "already" // it was so when we came
	Moved   Outcome = "moved"   // the world moved on: what it relied on holds no more
	Refused Outcome = "refused" // a witness says no, or says nothing
	Stale   Outcome = "stale"   // somebody wrote in between; it is judged again
	Failed  Outcome = "failed"
	Unknown Outcome = "unknown" // no answer: the next look decides
)

// An Entry is one line of a journal: what is about to be changed, or what came of it. It
// holds what the step changes and never a whole object.
type Entry struct {
	At       model.Time      `json:"at"`
	Step     int             `json:"step"`
	Undo     bool            `json:"undo,omitempty"` // it takes a step back
	Outcome  Outcome         `json:"outcome"`
	Why      string          `json:"why,omitempty"`
	For      []string        `json:"for,omitempty"` // findings that it was done for; the others were dropped
	UID      string          `json:"uid,omitempty"`
	Revision string          `json:"revision,omitempty"` // before, of an intent; after, of what is done
	Was      json.RawMessage `json:"was,omitempty"`      // what is changed, as it was: enough to compensate
	Now      json.RawMessage `json:"now,omitempty"`      // and as it will be
}
