package model_test

import (
	"net/netip"
	"reflect"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// What is summed up stays summed up when it is summed up again, and what came since is added.
func TestSumWaysAgain(t *testing.T) {
	t.Parallel()
	tunnel := netip.MustParseAddr("10.0.1.0")
	route := func(cidr string) model.Route {
		return model.Route{Dst: netip.MustParsePrefix(cidr), Gateway: tunnel, Link: 3, Table: 254}
	}
	node := func(routes ...model.Route) *model.NodeState {
		return &model.NodeState{Machines: []model.Machine{{BootID: "b"}}, Links: []model.Link{{Index: 3, Name: "vxlan.calico", Kind: "vxlan", Up: true}}, Routes: routes}
	}
	both := node(route("10.0.1.0/26"), route("10.0.2.0/26"))
	both.SumWays(nil)
	one := node(route("10.0.1.0/26"))
	one.SumWays(nil)
	again := *one
	again.SumWays(nil)
	if !reflect.DeepEqual(again.Machines, one.Machines) || again.Machines[0].Ways[0].Count != 1 {
		t.Errorf("again: %+v, want %+v", again.Machines, one.Machines)
	}
	again.Routes = append(again.Routes, route("10.0.2.0/26"))
	again.SumWays(nil)
	if !reflect.DeepEqual(again.Machines, both.Machines) || one.Machines[0].Ways[0].Count != 1 {
		t.Errorf("with one more: %+v, want %+v", again.Machines, both.Machines)
	}
}
