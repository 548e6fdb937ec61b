package server

import (
	"reflect"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
)

// A change is a change of a row, with what is needed to find who made it.
type change struct {
	eventlog.Entry
	table model.Table // 0: nobody can be found
	key   string      // of the row, as the kernel's reports have it
	place string      // of a route: which others can replace it
	link  int         // the interface whose end takes the row away; 0 for none
	after time.Time   // when the previous read of the table began; zero: unknown
}

func (c *change) gone() bool { return c.What == "gone" }

func ofRoute(c *change, was, now *model.Route) {
	r := now
	if r == nil {
		r = was
		c.place = was.Place()
	}
	c.table, c.key, c.link = model.Routes, r.Key(), r.Link
}

func ofNeighbour(c *change, was, now *model.Neighbour) {
	r := now
	if r == nil {
		r = was
	}
	c.table, c.key, c.link = model.Neighbours, r.Key(), r.Link
}

// ofAddresses: of an interface only a change of its addresses has a writer.
func ofAddresses(c *change, was, now *model.Link) {
	if was == nil || now == nil {
		return
	}
	before := *was
	before.IPs = now.IPs
	if reflect.DeepEqual(before, *now) {
		c.table, c.key = model.Links, strconv.Itoa(now.Index)
	}
}
