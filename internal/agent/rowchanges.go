package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
)

// A RouteChange is a change of a node's own route to a pod's address, as its agent recorded it.
type RouteChange struct {
	Node string
	At   time.Time // by the node's clock
	What string    // new, changed or gone
	IP   netip.Addr
	Who  string // by whom or why, as the end of a sentence
}

// RouteChanges asks an agent how the route to an address changed, oldest first.
func (f *Fleet) RouteChanges(ctx context.Context, node string, ip netip.Addr) ([]RouteChange, error) {
	var entries []eventlog.Entry
	if err := f.json(ctx, node, PathEvents, url.Values{"by": {"agent"}, "about": {ip.String() + "/"}}, &entries); err != nil {
		return nil, fmt.Errorf("read the event log: %w", err)
	}
	var out []RouteChange
	for i := range entries {
		if e := &entries[i]; e.Of == model.Routes.String() && routeOf(e) == ip {
			out = append(out, RouteChange{Node: node, At: e.At, What: e.What, IP: ip, Who: e.Who()})
		}
	}
	return out, nil
}

// routeOf is the only address that the route of an entry leads to.
func routeOf(e *eventlog.Entry) netip.Addr {
	row := e.Now
	if len(row) == 0 {
		row = e.Was
	}
	var r model.Route
	if json.Unmarshal(row, &r) != nil || r.Type != "" || !r.Dst.IsSingleIP() {
		return netip.Addr{}
	}
	return r.Dst.Addr()
}
