package kernel

import (
	"strconv"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// A Written is a change of a row of the host's tables as the kernel reported it, with who asked for
// it.
type Written struct {
	Table model.Table
	Key   string // of the row; of an address its interface's
	Gone  bool
	Port  uint32 // netlink port of the writer, mostly its PID; 0 is the kernel itself
	// Replaced is the place of the routes that this one took, if it did.
	Replaced string
	Link     int    // the interface
	Name     string // of the interface, if the change is about it
	// Missed: reports were lost, and this is all that is known of them.
	Missed bool
}

// written reads a report about the host. A change of an interface has no writer: the kernel reports
// none.
func written(m rtnl.Message, each func(Written)) error {
	gone := m.Type == unix.RTM_DELROUTE || m.Type == unix.RTM_DELNEIGH || m.Type == unix.RTM_DELADDR || m.Type == unix.RTM_DELLINK
	routes, err := rtnl.RoutesOf(m)
	for i := range routes {
		w := Written{Table: model.Routes, Key: routes[i].Key(), Gone: gone, Port: m.Port, Link: routes[i].Link}
		if m.Flags&unix.NLM_F_REPLACE != 0 && !gone {
			w.Replaced = routes[i].Place()
		}
		each(w)
	}
	if err != nil {
		return err
	}
	if n, ok, err := rtnl.NeighbourOf(m); ok || err != nil {
		each(Written{Table: model.Neighbours, Key: n.Key(), Gone: gone, Port: m.Port, Link: n.Link})
		return err
	}
	if a, ok, err := rtnl.AddressOf(m); ok || err != nil {
		each(Written{Table: model.Links, Key: strconv.Itoa(a.Link), Port: m.Port, Link: a.Link})
		return err
	}
	d, ok, err := rtnl.LinkOf(m)
	if ok && (gone || !d.Up) {
		each(Written{Table: model.Links, Key: strconv.Itoa(d.Index), Gone: gone, Link: d.Index, Name: d.Name})
	}
	return err
}
