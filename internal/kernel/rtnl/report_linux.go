package rtnl

import (
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// The functions below read what the kernel reports by itself when something changes. The rows are
// the same as those of a dump.

// RoutesOf returns the routes of a report, none if it is about something else.
func RoutesOf(m Message) ([]model.Route, error) {
	if m.Type != unix.RTM_NEWROUTE && m.Type != unix.RTM_DELROUTE {
		return nil, nil
	}
	return parseRoute(m.Body, nil)
}

// NeighbourOf returns the neighbour entry of a report.
func NeighbourOf(m Message) (n model.Neighbour, ok bool, err error) {
	if m.Type != unix.RTM_NEWNEIGH && m.Type != unix.RTM_DELNEIGH {
		return n, false, nil
	}
	n, noise, err := parseNeighbour(m.Body)
	return n, err == nil && !noise, err
}

// AddressOf returns the address of a report.
func AddressOf(m Message) (a Address, ok bool, err error) {
	if m.Type != unix.RTM_NEWADDR && m.Type != unix.RTM_DELADDR {
		return a, false, nil
	}
	a, err = parseAddress(m.Body)
	return a, err == nil && a.Prefix.IsValid(), err
}

// LinkOf returns the interface of a report. Reports of a bridge about its ports are left out: such
// an interface is not deleted when it leaves the bridge.
func LinkOf(m Message) (d Device, ok bool, err error) {
	if m.Type != unix.RTM_NEWLINK && m.Type != unix.RTM_DELLINK || len(m.Body) == 0 || m.Body[0] != unix.AF_UNSPEC {
		return d, false, nil
	}
	d, err = parseLink(m.Body)
	return d, err == nil, err
}
