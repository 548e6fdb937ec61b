package render

import (
	"fmt"
	"slices"
	"strings"

	"plumbline.dev/plumbline/internal/timeline"
)

// fileName gives the name of a place's file.
func (o Options) fileName(n uint16) string {
	if int(n) >= len(o.Files) {
		return fmt.Sprintf("file %d", n)
	}
	return clean(o.Files[n].Name)
}

// source names lines within a width: the first file with as many of its lines as fit, and the
// number of the others.
func (o Options) source(places []timeline.Place, width int) string {
	if len(places) == 0 {
		return ""
	}
	places = slices.Clone(places)
	for i, p := range places {
		if int(p.File) < len(o.Files) {
			places[i].Line = o.Files[p.File].Number(p.Line)
		}
	}
	slices.SortStableFunc(places, func(a, b timeline.Place) int {
		if a.File != b.File {
			return 0
		}
		return int(a.Line) - int(b.Line)
	})
	file := places[0].File
	var lines []string
	others := 0
	for _, p := range places {
		switch line := fmt.Sprint(p.Line); {
		case p.File != file:
			others++
		case !slices.Contains(lines, line):
			lines = append(lines, line)
		}
	}
	for n := min(len(lines), 4); ; n-- {
		tail := ":" + strings.Join(lines[:n], ",")
		if more := len(lines) - n + others; more > 0 {
			tail += fmt.Sprintf(" +%d", more)
		}
		if name := o.fileName(file); n == 1 || cells(name)+cells(tail) <= width {
			return cutPath(name, max(width-cells(tail), 8)) + tail
		}
	}
}
