package journal

import "plumbline.dev/plumbline/internal/repair"

// Entries that are of no step but of the whole. Done, or already so, says that it is
// complete; an intent that it begins; any other outcome that it was stopped there, and why.
const (
	EntirePlan = -1 // Done: the plan is finished
	EntireUndo = -2 // Done: the plan is undone
)

// A State is what became of a plan.
type State string

// The states.
const (
	Running     State = "running"     // a process writes the journal
	Finished    State = "finished"    // whatever was to be done of it
	Interrupted State = "interrupted" // cut off: to be resumed or undone
	Stopped     State = "stopped"     // it ended before its end and says why
	Undone      State = "undone"
	Broken      State = "broken" // it cannot be read
)

// StateOf tells what became of a plan that nobody is at: what was begun after it was said
// to be over counts as cut off again.
func StateOf(es []repair.Entry) State {
	state := Interrupted
	for i := range es {
		switch {
		case es[i].Step >= 0:
			state = Interrupted
		case es[i].Step == EntirePlan:
			state = ended(es[i].Outcome, Finished)
		case es[i].Step == EntireUndo:
			state = ended(es[i].Outcome, Undone)
		}
	}
	return state
}

func ended(o repair.Outcome, well State) State {
	switch o {
	case repair.Done, repair.Already:
		return well
	case repair.Intent:
		return Interrupted
	default:
		return Stopped
	}
}

// Progress gives the last outcome of each step of the plan that has one. What was done to
// take steps back is not in it.
func Progress(p *repair.Plan, es []repair.Entry) map[int]repair.Outcome {
	known := make(map[int]bool, len(p.Steps))
	for i := range p.Steps {
		known[p.Steps[i].ID] = true
	}
	out := map[int]repair.Outcome{}
	for i := range es {
		if e := &es[i]; !e.Undo && known[e.Step] {
			out[e.Step] = e.Outcome
		}
	}
	return out
}
