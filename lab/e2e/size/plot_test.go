//go:build e2e

package size

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// The series of the plot with their colours. The dashes show the datastore.
var (
	inks = []struct{ what, colour string }{
		{"check", "#0b6e4f"},
		{"bare download", "#888888"},
		{"check --quick", "#5fb49c"},
		{"check --gentle", "#b07d2b"},
		{"calicoctl", "#c1292e"},
		{"client-go, paged", "#235789"},
		{"judge", "#7b2d8b"},
	}
	dashes = map[string]string{"kdd": "none", "etcd": "6 4", "memory": "2 3"}
)

// A panel is one diagram with both axes logarithmic: linear growth rises by one power of
// ten per power of ten.
type panel struct {
	left, top, width, height float64
	x0, x1, y0, y1           float64 // powers of ten
}

func (p panel) at(x, y float64) (float64, float64) {
	return p.left + (math.Log10(x)-p.x0)/(p.x1-p.x0)*p.width, p.top + p.height - (math.Log10(y)-p.y0)/(p.y1-p.y0)*p.height
}

// plot draws time and memory over the number of pods.
func (b *results) plot() string {
	var s strings.Builder
	s.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 500" font-family="sans-serif" font-size="12">` + "\n")
	s.WriteString(`<rect width="960" height="500" fill="#ffffff"/>` + "\n")
	draw(&s, "time in seconds", 60, b.curves(wallOf))
	draw(&s, "peak memory in MB", 540, b.curves(peakOf))
	for i, k := range inks {
		x, y := 60+float64(i%4)*220, 448+float64(i/4)*20
		fmt.Fprintf(&s, `<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" stroke="%s" stroke-width="2"/><text x="%.0f" y="%.0f">%s</text>`+"\n", x, y-4, x+24, y-4, k.colour, x+30, y, shown(k.what))
	}
	s.WriteString(`<text x="60" y="490" fill="#555555">Both axes are logarithmic: linear growth is parallel to the thin grey lines. Solid: custom resources; dashed: etcd datastore.</text>` + "\n</svg>\n")
	return s.String()
}

func draw(s *strings.Builder, title string, left float64, all []series) {
	p := panel{left: left, top: 40, width: 370, height: 350, x0: math.Log10(4e4), x1: math.Log10(1.2e6), y0: 9, y1: -9}
	for _, c := range all {
		for _, y := range c.y {
			if y > 0 {
				p.y0, p.y1 = min(p.y0, math.Floor(math.Log10(y))), max(p.y1, math.Ceil(math.Log10(y)))
			}
		}
	}
	if p.y0 >= p.y1 {
		return
	}
	fmt.Fprintf(s, `<text x="%.0f" y="25" font-size="14">%s, by number of pods</text><rect x="%.0f" y="%.0f" width="%.0f" height="%.0f" fill="none" stroke="#333333"/>`+"\n", left, title, p.left, p.top, p.width, p.height)
	for _, n := range []float64{5e4, 1.5e5, 3e5, 1e6} {
		x, y := p.at(n, math.Pow(10, p.y0))
		fmt.Fprintf(s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#eeeeee"/><text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", x, p.top, x, y, x, y+18, thousands(int(n)))
	}
	for e := p.y0; e <= p.y1; e++ {
		x, y := p.at(4e4, math.Pow(10, e))
		fmt.Fprintf(s, `<text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n", x-6, y+4, number(math.Pow(10, e)))
		guide(s, p, e)
	}
	for _, c := range all {
		store, what, _ := strings.Cut(c.name, ", ")
		i := slices.IndexFunc(inks, func(k struct{ what, colour string }) bool { return k.what == what })
		if i < 0 {
			continue
		}
		var points []string
		for k := range c.x {
			x, y := p.at(c.x[k], c.y[k])
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
			fmt.Fprintf(s, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x, y, inks[i].colour)
		}
		fmt.Fprintf(s, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", strings.Join(points, " "), inks[i].colour, dashes[store])
	}
}

// guide draws a line of linear growth that starts at a power of ten at the left.
func guide(s *strings.Builder, p panel, e float64) {
	x0, y0 := p.at(4e4, math.Pow(10, e))
	reach := min(1.2e6/4e4, math.Pow(10, p.y1-e))
	x1, y1 := p.at(4e4*reach, math.Pow(10, e)*reach)
	fmt.Fprintf(s, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#dddddd"/>`+"\n", x0, y0, x1, y1)
}

func number(v float64) string {
	if v >= 1 {
		return thousands(int(v))
	}
	return fmt.Sprintf("%g", v)
}

func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func TestPlotIsWellFormed(t *testing.T) {
	t.Parallel()
	var b results
	for _, n := range []int{50_000, 150_000, 300_000} {
		b.add(cluster{Datastore: "kdd", Pods: n, Rows: []figures{{What: "check", Wall: float64(n) / 2e4, Peak: int64(n) * 2000}}})
	}
	text := b.plot()
	d, lines := xml.NewDecoder(strings.NewReader(text)), 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 2 || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("%d lines, want one for time and one for memory:\n%s", lines, text)
	}
}
