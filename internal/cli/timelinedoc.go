package cli

import (
	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
	"plumbline.dev/plumbline/internal/timeline"
)

// A timelineReport is what timeline -o json prints.
type timelineReport struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	About      string          `json:"about"`
	Stories    []timelineStory `json:"stories"`
	Files      []timeline.File `json:"files"`
	NotRead    []string        `json:"notRead"` // what was not to be had
}

// A timelineStory is all that is known of one pod's name.
type timelineStory struct {
	Pod       string             `json:"pod"`
	Sandboxes []timeline.Sandbox `json:"sandboxes"`
	Verdicts  []timelineVerdict  `json:"verdicts"`
	NotShown  []string           `json:"notShown"`
	Events    []timelineEvent    `json:"events"`
}

// A timelineVerdict carries the lines that it rests on, as file:line.
type timelineVerdict struct {
	timeline.Verdict
	Lines []string `json:"lines"`
}

// A timelineEvent carries the lines that tell it, as file:line.
type timelineEvent struct {
	timeline.Event
	Lines []string `json:"lines"`
}

func timelineDocument(log *timeline.Log, q question, stories []*timeline.Story, missing []string) timelineReport {
	files := log.Files()
	doc := timelineReport{APIVersion: cluster.APIVersion, Kind: "TimelineReport", About: q.String(), Files: term.NotNil(files), NotRead: term.NotNil(missing)}
	for _, s := range stories {
		out := timelineStory{Pod: s.Pod, Sandboxes: term.NotNil(s.Sandboxes), NotShown: term.NotNil(s.NotShown), Verdicts: []timelineVerdict{}, Events: []timelineEvent{}}
		for _, v := range s.Verdicts {
			out.Verdicts = append(out.Verdicts, timelineVerdict{v, linesAt(files, v.Lines)})
		}
		for i, e := range s.Events {
			out.Events = append(out.Events, timelineEvent{e, linesAt(files, s.Places(i))})
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
