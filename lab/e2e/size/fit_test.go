//go:build e2e

package size

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// A series is the growth of a figure with the number of pods.
type series struct {
	name string
	x, y []float64
}

// fit returns the least-squares line through the points, and R².
func (s series) fit() (base, slope, r2 float64) {
	n := float64(len(s.x))
	var mx, my float64
	for i := range s.x {
		mx, my = mx+s.x[i]/n, my+s.y[i]/n
	}
	var sxx, sxy, syy float64
	for i := range s.x {
		dx, dy := s.x[i]-mx, s.y[i]-my
		sxx, sxy, syy = sxx+dx*dx, sxy+dx*dy, syy+dy*dy
	}
	slope = sxy / sxx
	return my - slope*mx, slope, sxy * sxy / (sxx * syy)
}

// exponent is the exponent of the growth with the number of pods, between first and
// last: 1 is linear, 2 quadratic.
func (s series) exponent() float64 {
	last := len(s.x) - 1
	return math.Log(s.y[last]/s.y[0]) / math.Log(s.x[last]/s.x[0])
}

// curves returns the growth of each program, in time or memory. A cluster as small as
// the one in CI is mostly overhead and omitted.
func (b *results) curves(of func(figures) float64) (out []series) {
	for _, c := range b.Clusters {
		if c.Pods < 2*gateSize {
			continue
		}
		for _, f := range c.Rows {
			name := c.Datastore + ", " + f.What
			i := slices.IndexFunc(out, func(s series) bool { return s.name == name })
			if i < 0 {
				i, out = len(out), append(out, series{name: name})
			}
			out[i].x, out[i].y = append(out[i].x, float64(c.Pods)), append(out[i].y, of(f))
		}
	}
	return out
}

func wallOf(f figures) float64 { return f.Wall }
func peakOf(f figures) float64 { return float64(f.Peak) / (1 << 20) }

// shown is the name of a series in the documentation.
func shown(name string) string {
	if name == "memory, judge" || name == "judge" {
		return "model and detectors alone"
	}
	return name
}

// growth returns the fits of all series with at least three points.
func (b *results) growth() string {
	var out strings.Builder
	for _, q := range []struct {
		what, unit string
		of         func(figures) float64
	}{{"time", "s", wallOf}, {"memory", "MB", peakOf}} {
		for _, s := range b.curves(q.of) {
			if len(s.x) < 3 {
				continue
			}
			base, slope, r2 := s.fit()
			fmt.Fprintf(&out, "%-6s %-26s %8.2f %s + %8.2f %s per 100,000 pods, R² %.4f, exponent %.2f\n", q.what, shown(s.name), base, q.unit, slope*1e5, q.unit, r2, s.exponent())
		}
	}
	return out.String()
}

func TestFit(t *testing.T) {
	t.Parallel()
	line := series{x: []float64{1, 2, 4}, y: []float64{5, 7, 11}}
	if base, slope, r2 := line.fit(); math.Abs(base-3)+math.Abs(slope-2)+math.Abs(r2-1) > 1e-9 {
		t.Errorf("3 + 2x is fitted as %v + %vx, R² %v", base, slope, r2)
	}
	square := series{x: []float64{1, 2, 4}, y: []float64{1, 4, 16}}
	if _, _, r2 := square.fit(); r2 > 0.98 || math.Abs(square.exponent()-2) > 1e-9 {
		t.Errorf("a quadratic is fitted as a line, R² %v, exponent %v", r2, square.exponent())
	}
}
