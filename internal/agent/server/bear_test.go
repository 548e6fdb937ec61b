package server

import (
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

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
		"the runtime was not seen":             {change: func(*model.Facts) {}, missing: true},
		"a device of the host has it":          {change: func(f *model.Facts) { f.Links = []model.Link{{Name: "vxlan.calico", IPs: at(ip)}} }},
		"a sandbox whose namespace nobody saw": {change: func(f *model.Facts) { f.Sandboxes = []model.Sandbox{{ID: "c9", Inode: 7}} }},
		"a sandbox of the host's network":      {change: func(f *model.Facts) { f.Sandboxes = []model.Sandbox{{ID: "c9", Ready: true, HostNetwork: true}} }, quiet: true},
		"a dead sandbox without a namespace":   {change: func(f *model.Facts) { f.Sandboxes = []model.Sandbox{{ID: "c9"}} }, quiet: true},
		"what runs inside took the address off the device": {change: func(f *model.Facts) {
			f.Sandboxes = []model.Sandbox{{ID: "c1", Inode: 5, Ready: true}}
			f.Attachments = []model.Attachment{{Inode: 5, Device: "eth0"}}
			f.CNIResults = []model.CNIResult{{Container: "c1", IPs: at(ip)}}
		}},
	} {
		f := facts()
		c.change(f)
		w := agent.Witness{Container: c.container, Calls: c.calls, Complete: !c.missing}
		attest(&w, f, ip)
		w.Complete = w.Complete && len(w.Missing) == 0
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

// A table that is partial, lost, or that nobody reads leaves a witness incomplete.
func TestUnattested(t *testing.T) {
	t.Parallel()
	whole := seen(attested...)
	if got := unattested(whole); len(got) != 0 {
		t.Errorf("%q", got)
	}
	for i, c := range whole {
		broken := slices.Clone(whole)
		broken[i].State, broken[i].Reason = model.Partial, "cut"
		if got := unattested(broken); !slices.Equal(got, []string{c.Table.String() + ": cut"}) {
			t.Errorf("%s is partial: %q", c.Table, got)
		}
		if got := unattested(slices.Delete(slices.Clone(whole), i, i+1)); len(got) != 1 {
			t.Errorf("nobody reads %s: %q", c.Table, got)
		}
	}
}

func TestUnionOfCalls(t *testing.T) {
	t.Parallel()
	a := []model.Process{{PID: 1, CNI: "x"}}
	if got := union(a, []model.Process{{PID: 1, CNI: "x"}, {PID: 1, CNI: "y"}, {PID: 2, CNI: "x"}}); len(got) != 3 || len(a) != 1 {
		t.Errorf("%+v", got)
	}
}

// A question that is spelled otherwise than the tables are would get a false no.
func TestQuestion(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("0a", 32)
	for _, c := range []struct {
		ip, container, want string
		ok                  bool
	}{
		{"10.0.0.5", "", "10.0.0.5", true},
		{"::ffff:10.0.0.5", "", "10.0.0.5", true},
		{"fd00::1", id, "fd00::1", true},
		{"", id, "invalid IP", true},
		{"", "", "", false},
		{"", id[:8], "", false},
		{"", strings.ToUpper(id), "", false},
		{"10.0.0.5", "x", "", false},
		{"fe80::1%eth0", "", "", false},
		{"fe80::1", "", "", false},
		{"0.0.0.0", "", "", false},
		{"10.0.0.0/26", "", "", false},
	} {
		if got, ok := question(c.ip, c.container); ok != c.ok || ok && got.String() != c.want {
			t.Errorf("%q %q: %s, %v", c.ip, c.container, got, ok)
		}
	}
}

// What a token says of itself is only ever a reason to refuse it.
func TestMeant(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	token := func(claims string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
	}
	for text, want := range map[string]bool{
		token(`{"aud":["plumbline-agent"],"exp":1800000060}`):     true,
		token(`{"aud":"plumbline-agent","exp":1800000060}`):       true,
		token(`{"aud":["x","plumbline-agent"],"exp":1800000060}`): true,
		token(`{"aud":["plumbline-agent"],"exp":1800000000}`):     false,
		token(`{"aud":["plumbline-agent"]}`):                      false,
		token(`{"aud":["https://kubernetes"],"exp":1800000060}`):  false,
		token(`{"exp":1800000060}`):                               false,
		"abc.def.ghi":                                             false,
		"nonsense":                                                false,
	} {
		if end, ok := meant(text, now); ok != want || ok && !end.Equal(now.Add(time.Minute)) {
			t.Errorf("%s: %v, %v", text, end, ok)
		}
	}
}

func FuzzMeant(f *testing.F) {
	f.Add("e30.e30.c2ln")
	f.Fuzz(func(_ *testing.T, token string) { meant(token, time.Unix(0, 0)) })
}

// A stranger with new tokens all the time is told to wait before the API server is.
func TestReviewsAreFew(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	g := newGate(nil, "n1", func() time.Time { return now })
	n := 0
	for range 1000 {
		if g.spend() {
			n++
		}
	}
	now = now.Add(2 * time.Second)
	for range 1000 {
		if g.spend() {
			n++
		}
	}
	if n != maxBurst+2*perSecond {
		t.Errorf("%d reviews", n)
	}
}
