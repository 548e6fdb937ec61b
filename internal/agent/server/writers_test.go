package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/kernel"
	"plumbline.dev/plumbline/internal/model"
)

// A change is explained by the report that leaves no doubt, else by nothing.
func TestWhoIsNamed(t *testing.T) {
	t.Parallel()
	const felix, ip = 7, 9
	route := model.Route{Table: 254, Link: 3}
	del := func(port uint32) kernel.Written {
		return kernel.Written{Table: model.Routes, Key: route.Key(), Gone: true, Port: port, Link: 3}
	}
	set := func(port uint32) kernel.Written {
		return kernel.Written{Table: model.Routes, Key: route.Key(), Port: port, Link: 3}
	}
	other := route
	other.Link = 4
	replace := kernel.Written{Table: model.Routes, Key: other.Key(), Port: ip, Link: 4, Replaced: other.Place()}
	self := set(ip)
	self.Replaced = route.Place()
	vanish := kernel.Written{Table: model.Links, Key: "3", Gone: true, Link: 3, Name: "cali3"}
	down := vanish
	down.Gone = false
	type at struct {
		ms int
		kernel.Written
	}
	// The read before began at 0, the route was found changed at 50.
	for name, c := range map[string]struct {
		heard []at
		what  string
		want  string
	}{
		"deleted":                            {[]at{{20, del(felix)}}, "gone", "Felix"},
		"added":                              {[]at{{20, set(felix)}}, "new", "Felix"},
		"deleted before the read before":     {[]at{{-1, del(felix)}}, "gone", ""},
		"long after it was read":             {[]at{{200, del(felix)}}, "gone", ""},
		"a moment after it was read":         {[]at{{60, del(felix)}}, "gone", "Felix"},
		"nothing was heard":                  {nil, "gone", ""},
		"deleted and added again":            {[]at{{20, del(felix)}, {30, set(ip)}}, "gone", ""},
		"added and deleted by another":       {[]at{{10, set(felix)}, {20, del(ip)}}, "gone", "ip"},
		"deleted by two":                     {[]at{{20, del(felix)}, {30, set(ip)}, {40, del(ip)}}, "gone", "ip"},
		"deleted by another a moment later":  {[]at{{20, del(felix)}, {60, set(ip)}, {70, del(ip)}}, "gone", ""},
		"its interface vanished":             {[]at{{20, vanish}}, "gone", "interface cali3 vanished"},
		"its interface vanished after":       {[]at{{20, del(0)}, {60, vanish}}, "gone", "interface cali3 vanished"},
		"its interface went down":            {[]at{{20, down}}, "gone", "interface cali3 went down"},
		"it vanished long ago":               {[]at{{-1, vanish}}, "gone", ""},
		"deleted, added, interface vanished": {[]at{{10, del(felix)}, {20, set(felix)}, {30, vanish}}, "gone", ""},
		"an interface does not add routes":   {[]at{{20, vanish}}, "new", ""},
		"added, and written again":           {[]at{{20, set(ip)}, {30, set(felix)}, {70, set(felix)}}, "new", "ip"},
		"added after it was deleted":         {[]at{{10, set(felix)}, {20, del(felix)}, {30, set(ip)}, {40, set(felix)}}, "new", "ip"},
		"added twice a moment later":         {[]at{{60, set(ip)}, {70, set(felix)}}, "new", "ip"},
		"changed by two":                     {[]at{{20, set(ip)}, {30, set(felix)}}, "changed", "Felix"},
		"changed by another a moment later":  {[]at{{20, set(ip)}, {60, set(felix)}}, "changed", ""},
		"by the kernel":                      {[]at{{20, del(0)}}, "gone", ""},
		"replaced":                           {[]at{{20, replace}}, "gone", "ip"},
		"replaced by itself":                 {[]at{{20, self}}, "changed", "ip"},
		"replaced by itself, and yet gone":   {[]at{{20, self}}, "gone", ""},
		"a report was lost":                  {[]at{{10, kernel.Written{Missed: true}}, {20, del(felix)}}, "gone", ""},
		"one was lost before":                {[]at{{-1, kernel.Written{Missed: true}}, {20, del(felix)}}, "gone", "Felix"},
		"of a process that ended":            {[]at{{20, del(77)}}, "gone", ""},
	} {
		start := now()
		clock := start
		w := newWriters(func(_ context.Context, port uint32, _ int) string {
			return map[uint32]string{felix: "Felix", ip: "ip"}[port]
		}, func() time.Time { return clock })
		for _, h := range c.heard {
			clock = start.Add(time.Duration(h.ms) * time.Millisecond)
			w.hear(h.Written)
		}
		for len(w.ask) > 0 {
			h := <-w.ask
			h.who = w.name(t.Context(), h.Port, h.Link)
		}
		made := change{Entry: eventlog.Entry{What: c.what, At: start.Add(50 * time.Millisecond)}, after: start}
		if c.what == "gone" {
			ofRoute(&made, &route, nil)
		} else {
			ofRoute(&made, nil, &route)
		}
		if _, got := w.of(&made); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if made.after = (time.Time{}); c.want != "" {
			if _, got := w.of(&made); got != "" {
				t.Errorf("%s: %q, although reports from before may have come later", name, got)
			}
		}
	}
}

// Of neighbour entries and addresses all reports must be of one writer: the kernel deletes an entry after
// a process asked for it, and says that it did so itself.
func TestWhoChangedANeighbour(t *testing.T) {
	t.Parallel()
	entry := model.Neighbour{Link: 3}
	for name, c := range map[string]struct {
		ports []uint32
		want  string
	}{
		"one":              {[]uint32{7}, "7"},
		"the same twice":   {[]uint32{7, 7}, "7"},
		"then the kernel":  {[]uint32{7, 0}, ""},
		"the kernel alone": {[]uint32{0}, ""},
		"two":              {[]uint32{7, 9}, ""},
	} {
		clock := now()
		w := newWriters(nil, func() time.Time { return clock })
		for i, port := range c.ports {
			w.hear(kernel.Written{Table: model.Neighbours, Key: entry.Key(), Gone: i == len(c.ports)-1, Port: port})
			if port != 0 {
				(<-w.ask).who = fmt.Sprint(port)
			}
		}
		made := change{Entry: eventlog.Entry{What: "gone", At: clock}, after: clock.Add(-time.Second)}
		ofNeighbour(&made, &entry, nil)
		if _, got := w.of(&made); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What is remembered is bounded, and what was forgotten is not guessed.
func TestWritersAreBounded(t *testing.T) {
	t.Parallel()
	w := newWriters(nil, now)
	for i := range 3 * maxHeard {
		r := model.Route{Link: i}
		w.hear(kernel.Written{Table: model.Routes, Key: r.Key(), Link: i})
	}
	if w.count > maxHeard || len(w.rows) > maxHeard || w.missed.IsZero() {
		t.Errorf("%d in %d rows, missed %s", w.count, len(w.rows), w.missed)
	}
}
