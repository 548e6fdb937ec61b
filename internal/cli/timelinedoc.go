package cli

import (
	"plumbline.dev/plumbline/internal/timeline"
)

// A TimelineReport is what timeline -o json prints.
type TimelineReport struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	About      string          `json:"about"`
	Stories    []TimelineStory `json:"stories"`
	Files      []timeline.File `json:"files"`
	NotRead    []string        `json:"notRead"` // what was not to be had
}

// A TimelineStory is all that is known of one pod's name.
type TimelineStory struct {
	Pod       string             `json:"pod"`
	Sandboxes []timeline.Sandbox `json:"sandboxes"`
	Verdicts  []TimelineVerdict  `json:"verdicts"`
	NotShown  []string           `json:"notShown"`
	Events    []TimelineEvent    `json:"events"`
}

// A TimelineVerdict carries the lines that it rests on, as file:line.
type TimelineVerdict struct {
	timeline.Verdict
	Lines []string `json:"lines"`
}

// A TimelineEvent carries the lines that tell it, as file:line.
type TimelineEvent struct {
	timeline.Event
	Lines []string `json:"lines"`
}

func timelineDocument(log *timeline.Log, q question, stories []*timeline.Story, missing []string) TimelineReport {
	files := log.Files()
	doc := TimelineReport{APIVersion: APIVersion, Kind: "TimelineReport", About: q.String(), Files: notNil(files), NotRead: notNil(missing)}
	for _, s := range stories {
		out := TimelineStory{Pod: s.Pod, Sandboxes: notNil(s.Sandboxes), NotShown: notNil(s.NotShown), Verdicts: []TimelineVerdict{}, Events: []TimelineEvent{}}
		for _, v := range s.Verdicts {
			out.Verdicts = append(out.Verdicts, TimelineVerdict{v, linesAt(files, v.Lines)})
		}
		for i, e := range s.Events {
			out.Events = append(out.Events, TimelineEvent{e, linesAt(files, s.Places(i))})
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
