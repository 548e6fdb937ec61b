package model

import "fmt"

// Key identifies a route in its node's tables.
func (r *Route) Key() string { return fmt.Sprintf("%s %d", r.Place(), r.Link) }

// Place is where a route stands: another route to the same destination in the same table and with
// the same metric can replace it.
func (r *Route) Place() string { return fmt.Sprintf("%s %d %d", r.Dst, r.Table, r.Metric) }

// Key identifies a neighbour entry in its node's tables.
func (n *Neighbour) Key() string { return fmt.Sprintf("%s %d %t", n.IP, n.Link, n.Proxy) }
