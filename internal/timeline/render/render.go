// Package render shows a story: as text in swim lanes, one per sandbox, and as a picture in one
// HTML file. All text from logs is passed through clean before it is shown.
package render

import (
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// Options configure how a story is shown.
type Options struct {
	Width int             // of the text, in columns; 0 means 80
	Zone  *time.Location  // of the times; nil means that of the first event
	Files []timeline.File // that places refer to
	Color bool            // of the text
}

const (
	defaultWidth = 80
	leastWidth   = 40
)

func (o Options) width() int {
	if o.Width == 0 {
		return defaultWidth
	}
	return max(o.Width, leastWidth)
}

func (o Options) zone(s *timeline.Story) *time.Location {
	if o.Zone != nil {
		return o.Zone
	}
	for i := range s.Events {
		if !s.Events[i].At.IsZero() {
			return s.Events[i].At.Location()
		}
	}
	return time.UTC
}
