package repair

import (
	"encoding/json"

	"plumbline.dev/plumbline/internal/model"
)

// An Outcome is the result of a step.
type Outcome string

// The outcomes. Intent is journalled before the write is sent: if a journal ends with an
// Intent, it is not known whether that write was done.
const (
	Intent  Outcome = "intent"
	Done    Outcome = "done"
	Already Outcome = "already" // the object had the wanted state before any write of this run
	Moved   Outcome = "moved"   // a condition of the step no longer holds; nothing was written
	Refused Outcome = "refused" // live verification failed or was not possible; nothing was written
	Stale   Outcome = "stale"   // another writer was first; nothing was written, the step starts again
	Failed  Outcome = "failed"  // the write was refused, or every try failed; nothing was written
	Unknown Outcome = "unknown" // no answer to the write: it may have been done
)

// An Entry is one line of a journal: what is about to be changed, or the outcome. It holds
// the part that the step changes, never a whole object.
type Entry struct {
	At       model.Time      `json:"at"`
	Step     int             `json:"step"`           // of the plan; -1: the whole plan, -2: the whole undo
	Undo     bool            `json:"undo,omitempty"` // the step belongs to an undo
	Outcome  Outcome         `json:"outcome"`
	Why      string          `json:"why,omitempty"`      // in words
	For      []string        `json:"for,omitempty"`      // findings that this write served; the step's other findings were dropped
	UID      string          `json:"uid,omitempty"`      // of the changed object
	Revision string          `json:"revision,omitempty"` // of an Intent: before the write; of Done: after it
	Was      json.RawMessage `json:"was,omitempty"`      // the changed part before the write: enough for Undo
	Now      json.RawMessage `json:"now,omitempty"`      // the changed part after the write
}
