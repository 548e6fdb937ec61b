package render

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/page"
	"plumbline.dev/plumbline/internal/timeline"
)

//go:embed page.html
var pageText string

//go:embed style.css
var pictureStyle string

//go:embed script.js
var script string

var document = template.Must(template.New("page").Parse(pageText))

// style is that of all pages, and of the picture.
var style = page.Style + pictureStyle

// Policy is the Content-Security-Policy: only the file's own style and script, by their hash.
var Policy = page.Policy(style, script)

// HTML writes a story as one file with a picture. It loads nothing, and is readable without its
// script.
func HTML(w io.Writer, s *timeline.Story, o Options) error {
	zone, l := o.zone(s), lanesOf(s)
	all := rows(s, l, mostLabelled)
	d := told{
		Policy: template.HTMLAttr(`content="` + Policy + `"`), Style: template.CSS(style), Script: template.JS(script), //nolint:gosec // our own, embedded
		Pod: clean(s.Pod), Nodes: nodes(s), Sandboxes: len(l.all), Zone: offset(s, zone), Picture: newPicture(s, l, all, o, zone), Notices: notices(s), Unknowns: unknowns(s),
	}
	d.First, d.Last = days(s, zone)
	for i := range s.Verdicts {
		if v := &s.Verdicts[i]; v.Cause != timeline.Credential {
			d.Verdicts = append(d.Verdicts, drawnVerdict{clean(string(v.Cause)), clean(string(v.Certainty)), clean(v.Says), cutRight(clean(v.Error), maxNoted), o.source(v.Lines, 100)})
		}
	}
	d.Rows = tableRows(s, l, o, zone)
	d.MoreRows = len(s.Events) - len(d.Rows)
	d.Boxes = boxes(l, zone)
	d.Files = files(o)
	if err := document.Execute(w, &d); err != nil {
		return fmt.Errorf("write %s as HTML: %w", d.Pod, err)
	}
	return nil
}

// mostLabelled is how many columns the events of one mark may have.
const mostLabelled = 44

type told struct {
	Policy            template.HTMLAttr
	Style             template.CSS
	Script            template.JS
	Pod, First, Last  string
	Zone              string
	Nodes             []string
	Sandboxes         int
	Verdicts          []drawnVerdict
	Notices, Unknowns []string
	Picture           *picture
	Rows              []tableRow
	MoreRows          int
	Boxes             []tableBox
	Files             []tableFile
}

type drawnVerdict struct{ Cause, Certainty, Says, Error, Lines string }

type tableRow struct {
	Number                                              int
	Time, Sandbox, Kind, Said, Source, Node, Note, Line string
	Class                                               string
}

type tableBox struct{ ID, Node, UID, Addresses, Device, Added, Deleted string }

type tableFile struct {
	Name, Example  string
	Lines, Unknown uint32
	Guessed, Left  []string
}

const (
	maxTable = 5000
	maxNoted = 400
)

func tableRows(s *timeline.Story, l *lanes, o Options, zone *time.Location) []tableRow {
	var out []tableRow
	for i := range s.Events[:min(len(s.Events), maxTable)] {
		e := &s.Events[i]
		r := tableRow{Number: i, Time: stamp(e.At, zone), Said: say(e), Source: clean(e.Source), Node: clean(e.Node), Note: cutRight(clean(e.Note), maxNoted), Line: o.source(linesOf(s, i), 60), Class: class(e.Kind)}
		if n := l.event(e); n != noLane {
			r.Sandbox = l.all[n].title
		}
		if e.Count > 1 {
			r.Said += fmt.Sprintf(" ×%d", e.Count)
		}
		out = append(out, r)
	}
	return out
}

func stamp(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return ""
	}
	return t.In(zone).Format("2006-01-02 15:04:05.000")
}

func boxes(l *lanes, zone *time.Location) []tableBox {
	var out []tableBox
	for i := range l.all {
		b := &l.all[i]
		var addresses []string
		for _, a := range b.Addresses {
			addresses = append(addresses, clean(a.String()))
		}
		out = append(out, tableBox{clean(b.ID), clean(b.Node), clean(b.UID), strings.Join(addresses, ", "), clean(b.Device), stamp(b.Added, zone), stamp(b.Deleted, zone)})
	}
	return out
}

func files(o Options) []tableFile {
	var out []tableFile
	for i := range o.Files {
		f := &o.Files[i]
		t := tableFile{Name: clean(f.Name), Lines: f.Lines, Unknown: f.Unknown}
		if f.Unknown > 0 {
			t.Example = fmt.Sprintf("line %d (%s): %s", f.SampleAt, clean(f.Guess), clean(f.Sample))
		}
		for _, g := range f.Guessed {
			t.Guessed = append(t.Guessed, clean(g))
		}
		for _, g := range f.Left {
			t.Left = append(t.Left, clean(g))
		}
		out = append(out, t)
	}
	return out
}
