package server

import (
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
)

// A witness tells of everything that may use an address, under whatever name.
func TestAttest(t *testing.T) {
	t.Parallel()
	ip, other := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	at := func(a netip.Addr) []netip.Prefix { return []netip.Prefix{netip.PrefixFrom(a, 32)} }
	facts := func() *model.Facts {
		return &model.Facts{
			Machines:   []model.Machine{{BootID: "b", Uptime: 100, NodeName: "n1", CalicoName: "n1"}},
			CNIConfigs: []model.CNIConfig{{File: "99.conf", NodeName: "no"}, {File: "10-calico.conflist", Loaded: true, NodeName: "n2"}},
		}
	}
	for name, c := range map[string]struct {
		change    func(*model.Facts)
		container string
		calls     []model.Process
		missing   bool
		quiet     bool
	}{
		"nothing":              {change: func(*model.Facts) {}, quiet: true},
		"others only":          {change: func(f *model.Facts) { f.Attachments = []model.Attachment{{Inode: 5, IPs: at(other)}} }, quiet: true},
		"a namespace has it":   {change: func(f *model.Facts) { f.Attachments = []model.Attachment{{Inode: 5, IPs: at(ip)}} }},
		"its sandbox is there": {change: func(f *model.Facts) { f.Sandboxes = []model.Sandbox{{ID: "c1"}} }, container: "c1"},
		"a call is under way":  {change: func(*model.Facts) {}, calls: []model.Process{{PID: 9, CNI: "c9", Command: "ADD"}}},
		"its namespace under its name": {change: func(f *model.Facts) {
			f.Sandboxes = []model.Sandbox{{ID: "c1", Inode: 5, Ready: true}}
			f.Attachments = []model.Attachment{{Inode: 5, IPs: at(other)}}
		}, container: "c1"},
		"the runtime was not seen": {change: func(*model.Facts) {}, missing: true},
	} {
		f := facts()
		c.change(f)
		w := agent.Witness{Container: c.container, Calls: c.calls, Complete: !c.missing}
		attest(&w, f, ip)
		if w.Quiet() != c.quiet || w.BootID != "b" || w.ConfigName != "n2" || w.CalicoName != "n1" {
			t.Errorf("%s: quiet is %v, %+v", name, w.Quiet(), w)
		}
	}
	// The record of libcni names who had it; that alone uses nothing.
	f := facts()
	f.CNIResults = []model.CNIResult{{Container: "c1", IPs: at(ip)}, {Container: "c2", IPs: at(other)}}
	w := agent.Witness{Complete: true}
	attest(&w, f, ip)
	if len(w.Results) != 1 || w.Results[0].Container != "c1" || !w.Quiet() {
		t.Errorf("%+v", w)
	}
}

func TestUnionOfCalls(t *testing.T) {
	t.Parallel()
	a := []model.Process{{PID: 1, CNI: "x"}}
	if got := union(a, []model.Process{{PID: 1, CNI: "x"}, {PID: 1, CNI: "y"}, {PID: 2, CNI: "x"}}); len(got) != 3 || len(a) != 1 {
		t.Errorf("%+v", got)
	}
}
