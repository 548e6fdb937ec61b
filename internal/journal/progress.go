package journal

import "plumbline.dev/plumbline/internal/repair"

// Step numbers of entries about the whole plan. Outcome Done or Already: complete; Intent: it
// begins; any other: it stopped, with the reason.
const (
	EntirePlan = -1 // Done: the plan is finished
	EntireUndo = -2 // Done: the plan is undone
)

// A State is the state of a plan.
type State string

// The states.
const (
	Running     State = "running"     // a process has the journal open
	Finished    State = "finished"    // the run reached the end of the plan
	Interrupted State = "interrupted" // crashed or killed: resume or undo it
	Stopped     State = "stopped"     // ended before the end of the plan, with a reason
	Undone      State = "undone"
	Broken      State = "broken" // the journal cannot be read
)

// StateOf gives the state of a plan that no process is executing. Entries of steps after the
// end of the plan make it Interrupted again.
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

// progressOf gives the last outcome of each step that has one. Entries of an undo are not
// included.
func progressOf(p *repair.Plan, es []repair.Entry) map[int]repair.Outcome {
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
