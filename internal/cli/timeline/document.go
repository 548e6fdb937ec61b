package timeline

import (
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/timeline"
)

// A report is what timeline -o json prints.
type report struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	About      string  `json:"about"` // what was asked for
	Stories    []story `json:"stories"`
	// Account says what was read and understood: the stories are told from that only.
	Account timeline.Account `json:"account"`
	Files   []timeline.File  `json:"files"`
	NotRead []string         `json:"notRead"` // logs that could not be read
}

// A story is all that is known of one pod's name.
type story struct {
	Pod       string             `json:"pod"` // NAMESPACE/NAME
	Sandboxes []timeline.Sandbox `json:"sandboxes"`
	Verdicts  []verdict          `json:"verdicts"`
	NotShown  []string           `json:"notShown"` // what the lines do not show
	Events    []event            `json:"events"`
}

// A verdict carries the lines that it rests on, as file:line.
type verdict struct {
	timeline.Verdict
	Lines []string `json:"lines"` // that it rests on: FILE:LINE
}

// An unexplained carries the lines that it rests on, as file:line.
type unexplained struct {
	timeline.Unexplained
	Lines []string `json:"lines"` // that it rests on: FILE:LINE
}

// An event carries the lines that tell it, as file:line.
type event struct {
	timeline.Event
	Lines []string `json:"lines"` // that tell it: FILE:LINE
}

// document gives the document of stories.
func document(log *timeline.Log, q question, stories []*timeline.Story, missing []string) report {
	files := log.Files()
	doc := report{APIVersion: cluster.APIVersion, Kind: "TimelineReport", About: q.String(), Account: timeline.AccountOf(files), Files: term.NotNil(files), NotRead: term.NotNil(missing)}
	for _, s := range stories {
		out := story{Pod: s.Pod, Sandboxes: term.NotNil(s.Sandboxes), NotShown: term.NotNil(s.NotShown), Verdicts: []verdict{}, Events: []event{}}
		for _, v := range s.Verdicts {
			out.Verdicts = append(out.Verdicts, verdict{v, linesAt(files, v.Lines)})
		}
		for i, e := range s.Events {
			out.Events = append(out.Events, event{e, linesAt(files, s.Places(i))})
		}
		doc.Stories = append(doc.Stories, out)
	}
	return doc
}

// linesAt names places as a person looks them up.
func linesAt(files []timeline.File, places []timeline.Place) []string {
	out := []string{}
	for _, p := range places {
		if int(p.File) < len(files) {
			out = append(out, files[p.File].At(p.Line))
		}
	}
	return out
}
