package ladder

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/plain"
)

//go:embed ladder.svg
var picture string

//go:embed style.css
var style string

var drawing = template.Must(template.New("ladder").Parse(picture))

// Style is the stylesheet of a drawing in a page, which has the colours.
func Style() string { return style }

// The measures of a drawing.
const (
	rungHeight = 58
	top        = 62
	labelled   = 146 // left of the cells
	cellWidth  = 262
	cellGap    = 12
	sideWidth  = 330
	cellText   = 30 // characters
	sideText   = 38
	lineHeight = 16
	mostSides  = 3
	nodeText   = 120
)

type drawnCell struct {
	X, Width   int
	Says, Full string
	Mark       Mark
	Link       Mark // of the line to the cell before it; empty: none
	LinkX      int  // where that begins
}

type drawnLine struct {
	Y    int
	Text string
}

type drawnSide struct {
	Y, Height int
	Lines     []drawnLine
	Class     string
	Full      string
	Link      string
}

type drawnRung struct {
	Y     int
	Part  string
	State string // the mark, or found
	Cells []drawnCell
	Sides []drawnSide
}

type drawn struct {
	Title, Verdict, Describe string
	Role                     string
	Node                     []drawnSide // findings about the node
	Width, Height            int
	Style                    template.CSS // of a file of its own
	Heads                    []drawnCell
	Rungs                    []drawnRung
	PipeFrom, PipeTo         int
	HeadY                    int
	Side                     int // where findings begin
}

// SVG draws the ladder as a file of its own.
func (l *Ladder) SVG(w io.Writer) error { return l.draw(w, fileColours+style, nil) }

// Inline draws the ladder for a page that has Style. Link gives the address of a finding.
func (l *Ladder) Inline(link func(*finding.Finding) string) (template.HTML, error) {
	var b strings.Builder
	err := l.draw(&b, "", link)
	return template.HTML(b.String()), err //nolint:gosec // html/template wrote it
}

// fileColours are those of a file that no page gives any.
const fileColours = `svg{--card:#fff;--ink:#1a2230;--soft:#5b6675;--line:#dfe4ea;--good:#1a7f4b;--bad:#c4162a;--warn:#9a5200;--note:#3566b8;--badsoft:#fbe3e5;--goodsoft:#e2f3e9;--lane:#f6f7f9;background:#fff}
@media (prefers-color-scheme:dark){svg{--card:#181f2a;--ink:#e4e9f0;--soft:#98a4b5;--line:#2a3443;--good:#4ac885;--bad:#ff6473;--warn:#f0a23c;--note:#79a7ff;--badsoft:#46202a;--goodsoft:#173425;--lane:#10151d;background:#181f2a}}
`

func (l *Ladder) draw(w io.Writer, css string, link func(*finding.Finding) string) error {
	d := drawn{
		Title: plain.Line(l.Pod.Namespace + "/" + l.Pod.Name), Verdict: plain.Line(l.Verdict()), Style: template.CSS(css), //nolint:gosec // our own
		Role: "img", Width: labelled + sources*(cellWidth+cellGap) + cellGap, Side: labelled + sources*(cellWidth+cellGap) + 8,
	}
	if l.Pod.Node != "" {
		d.Title += " on " + plain.Line(l.Pod.Node)
	}
	if slices.ContainsFunc(l.Rungs, func(r Rung) bool { return len(r.Findings) > 0 }) {
		d.Width += sideWidth
	}
	for i, name := range Sources {
		d.Heads = append(d.Heads, drawnCell{X: labelled + i*(cellWidth+cellGap), Width: cellWidth, Says: name})
	}
	if link != nil {
		d.Role = "group" // it has links
	}
	y := top
	for _, f := range l.Node[:min(len(l.Node), mostSides)] {
		s := side(f, y, link)
		y = d.ofNode(s, "Node: "+s.Full, y)
	}
	if more := len(l.Node) - mostSides; more > 0 {
		y = d.ofNode(drawnSide{}, fmt.Sprintf("Node: and %s more", plain.Count(more, "finding")), y)
	}
	d.HeadY = y - 12
	for i := range l.Rungs {
		r := drawRung(&l.Rungs[i], y, link)
		d.Rungs = append(d.Rungs, r)
		d.Describe += fmt.Sprintf("%s: %s. ", r.Part, describe(&l.Rungs[i]))
		y += max(rungHeight, sidesHeight(r.Sides)+8)
	}
	d.Height = y + 4
	if n := len(d.Rungs); n > 0 {
		d.PipeFrom, d.PipeTo = d.Rungs[0].Y+rungHeight/2, d.Rungs[n-1].Y+rungHeight/2
	}
	return drawing.Execute(w, &d)
}

// ofNode adds a line about the node, and says where the next one is.
func (d *drawn) ofNode(s drawnSide, text string, y int) (next int) {
	s.Lines, s.Height, s.Y = []drawnLine{{16, plain.InMiddle(text, nodeText)}}, lineHeight+4, y-28
	d.Node = append(d.Node, s)
	return y + lineHeight + 8
}

func drawRung(r *Rung, y int, link func(*finding.Finding) string) drawnRung {
	out := drawnRung{Y: y, Part: plain.Line(r.Part), State: string(r.State())}
	if s := r.State(); r.Found() && s != Missing && s != Differs {
		out.State = "found"
	}
	before := -1
	for i, c := range r.Cells {
		full := plain.Line(c.Says)
		cell := drawnCell{X: labelled + i*(cellWidth+cellGap), Width: cellWidth, Says: plain.InMiddle(full, cellText), Full: full, Mark: c.Mark}
		if c.Says != "" && before >= 0 {
			cell.Link, cell.LinkX = r.State(), labelled+before*(cellWidth+cellGap)+cellWidth
		}
		if c.Says != "" {
			before = i
		}
		out.Cells = append(out.Cells, cell)
	}
	at := 4
	for _, f := range r.Findings[:min(len(r.Findings), mostSides)] {
		s := side(f, at, link)
		out.Sides = append(out.Sides, s)
		at += s.Height + 4
	}
	if more := len(r.Findings) - mostSides; more > 0 {
		out.Sides = append(out.Sides, drawnSide{Y: at, Height: lineHeight + 4, Lines: []drawnLine{{16, fmt.Sprintf("and %s more", plain.Count(more, "finding"))}}})
	}
	return out
}

// side is a finding beside its rung.
func side(f *finding.Finding, y int, link func(*finding.Finding) string) drawnSide {
	s := drawnSide{Y: y, Class: string(f.Severity), Full: plain.Line(f.Key() + ": " + f.Summary)}
	for i, text := range wrap(fmt.Sprintf("%s [%s] %s", f.Code, f.State, plain.ShortIDs(plain.Line(f.Summary))), sideText, 3) {
		s.Lines = append(s.Lines, drawnLine{16 + lineHeight*i, text})
	}
	s.Height = lineHeight*len(s.Lines) + 4
	if link != nil {
		s.Link = link(f)
	}
	return s
}

func sidesHeight(all []drawnSide) (n int) {
	for _, s := range all {
		n += s.Height + 4
	}
	return n
}

// describe is a rung in words, for those who do not see it.
func describe(r *Rung) string {
	var out []string
	for i, c := range r.Cells {
		if c.Says != "" {
			out = append(out, fmt.Sprintf("%s says %s (%s)", Sources[i], plain.Line(c.Says), c.Mark))
		}
	}
	return strings.Join(out, ", ")
}

// wrap breaks a text at spaces into at most so many lines.
func wrap(text string, width, most int) (out []string) {
	now := ""
	for _, word := range strings.Fields(text) {
		if now != "" && utf8.RuneCountInString(now)+1+utf8.RuneCountInString(word) > width {
			out, now = append(out, now), ""
		}
		now = strings.TrimSpace(now + " " + plain.InMiddle(word, width))
	}
	out = append(out, now)
	if len(out) > most {
		out = out[:most]
		out[most-1] += " …"
	}
	return out
}
