package kernel

import (
	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

// Tables that a change can affect.
var everything = []model.Table{
	model.Links, model.Routes, model.Rules, model.Paths, model.Neighbours, model.Attachments, model.Sysctls,
}

// The kernel does not report everything: when an interface or an address is removed, routes
// and neighbours are removed too, and for IPv4 that is not reported.
var (
	ofLink    = []model.Table{model.Links, model.Routes, model.Paths, model.Neighbours, model.Attachments, model.Sysctls}
	ofAddress = []model.Table{model.Links, model.Routes, model.Paths}
	ofRoute   = []model.Table{model.Routes, model.Paths}
	ofRule    = []model.Table{model.Rules, model.Paths}
	ofNear    = []model.Table{model.Neighbours}
	ofSetting = []model.Table{model.Sysctls}
	ofSpace   = []model.Table{model.Attachments, model.Links, model.Paths}
	inside    = []model.Table{model.Attachments}
	insideIPs = []model.Table{model.Attachments, model.Paths}
)

// concerns returns which tables a message affects, on the host or inside another namespace.
func concerns(kind uint16, host bool) []model.Table {
	var here, there []model.Table
	switch kind {
	case unix.RTM_NEWLINK, unix.RTM_DELLINK:
		here, there = ofLink, insideIPs
	case unix.RTM_NEWADDR, unix.RTM_DELADDR:
		here, there = ofAddress, insideIPs
	case unix.RTM_NEWROUTE, unix.RTM_DELROUTE:
		here, there = ofRoute, inside
	case unix.RTM_NEWRULE, unix.RTM_DELRULE:
		here, there = ofRule, inside
	case unix.RTM_NEWNEIGH, unix.RTM_DELNEIGH:
		here, there = ofNear, inside
	case unix.RTM_NEWNETCONF, unix.RTM_DELNETCONF:
		here, there = ofSetting, inside
	case unix.RTM_NEWNSID, unix.RTM_DELNSID:
		here, there = ofSpace, nil
	default:
	}
	if host {
		return here
	}
	return there
}

// renumbered returns the ID that a message assigns to a namespace, or removes.
func renumbered(m rtnl.Message) (id int32, ok bool) {
	if m.Type != unix.RTM_NEWNSID && m.Type != unix.RTM_DELNSID {
		return 0, false
	}
	err := rtnl.Attrs(m.Body, rtnl.GenSize, func(kind uint16, v []byte) {
		if kind == rtnl.NamespaceID && len(v) >= 4 {
			id, ok = int32(rtnl.Number(v)), true
		}
	})
	return id, ok && err == nil
}
