package daemon

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

const (
	maxFailing = 256 // failing DELs that are tracked
	maxEndless = 10  // of these are reported
	endlessAt  = 3   // failures in a row
	endlessFor = time.Hour

	replayed guard.Verb = "REPLAY" // a queued DEL, which the guard runs, not a runtime
)

// A count is the tally of the calls since boot, in a form that can be continued after a
// restart.
type count struct {
	Since     time.Time                 `json:"since"`
	Adds      times                     `json:"adds"`
	Dels      times                     `json:"dels"`
	Late      int                       `json:"late"`
	Stopped   int                       `json:"stopped"`
	Lost      int                       `json:"lost"`
	Succeeded int                       `json:"succeeded"`
	Open      int                       `json:"open"`
	Failing   map[string]*guard.Endless `json:"failing"`
}

func (c *count) withDefaults() {
	if c.Failing == nil {
		c.Failing = map[string]*guard.Endless{}
	}
	maps.DeleteFunc(c.Failing, func(_ string, e *guard.Endless) bool { return e == nil })
}

// add counts one entry of the event log.
func (c *count) add(e *eventlog.Entry) {
	var ev guard.Event
	if e.By != "guard" || e.Of != "cni" || json.Unmarshal(e.Now, &ev) != nil {
		return
	}
	if c.Since.IsZero() || e.At.Before(c.Since) {
		c.Since = e.At
	}
	if len(ev.Trouble) > 0 {
		c.Open++
	}
	switch guard.Verb(e.What) {
	case guard.Add:
		c.Adds.add(ev.Took, ev.Code != 0)
	case guard.Del:
		c.Dels.add(ev.Took, ev.Code != 0)
		c.del(&ev)
		c.follow(e.At, &ev)
	case replayed:
		if c.lose(&ev); ev.Called && ev.Code == 0 {
			c.follow(e.At, &ev)
		}
	default:
	}
}

func (c *count) del(ev *guard.Event) {
	if ev.Late {
		c.Late++
		if !ev.Called {
			c.Stopped++
		}
	}
	c.lose(ev)
	if ev.Rule == 11 {
		c.Succeeded++
	}
}

func (c *count) lose(ev *guard.Event) {
	if len(ev.Lost) > 0 {
		c.Lost++
	}
}

// follow tracks which DELs fail repeatedly.
func (c *count) follow(at time.Time, ev *guard.Event) {
	id := ev.Network + "\x00" + ev.Container + "\x00" + ev.IfName
	if ev.Code == 0 {
		delete(c.Failing, id)
		return
	}
	f := c.Failing[id]
	if f == nil {
		if len(c.Failing) >= maxFailing {
			c.drop()
		}
		f = &guard.Endless{Key: ev.Key, Namespace: ev.Namespace, Pod: ev.Pod, Since: at}
		c.Failing[id] = f
	}
	f.Count++
	f.Last, f.Error = at, ev.Error
}

// drop forgets the failing DEL whose last failure is the oldest.
func (c *count) drop() {
	oldest := ""
	for id, f := range c.Failing {
		if oldest == "" || f.Last.Before(c.Failing[oldest].Last) {
			oldest = id
		}
	}
	delete(c.Failing, oldest)
}

// tally returns the count as it is reported.
func (c *count) tally(now time.Time) guard.Tally {
	t := guard.Tally{
		Since: c.Since, Adds: c.Adds.told(), Dels: c.Dels.told(), Late: c.Late, Stopped: c.Stopped,
		Lost: c.Lost, Succeeded: c.Succeeded, Open: c.Open,
	}
	for _, f := range c.Failing {
		if f.Count >= endlessAt && now.Sub(f.Last) < endlessFor {
			t.Endless = append(t.Endless, *f)
		}
	}
	slices.SortFunc(t.Endless, func(a, b guard.Endless) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Container, b.Container))
	})
	t.Endless = t.Endless[:min(len(t.Endless), maxEndless)]
	return t
}
