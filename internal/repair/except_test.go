package repair

import (
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A plan is a file and may come from anywhere: a release with exceptions from its proof is
// not valid.
func TestReleaseAllowsNoExceptions(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("10.0.0.1")
	held := &change.Held{Attribute: model.Attribute{Handle: "k8s-pod-network.a1a1a1a1a1a1"}}
	for name, c := range map[string]struct {
		o      change.Ordinal
		except []string
		valid  bool
	}{
		"freed":                 {change.Ordinal{For: "f", IP: ip, From: held}, nil, true},
		"freed, with exception": {change.Ordinal{For: "f", IP: ip, From: held}, []string{"a1a1a1a1a1a1"}, false},
		"given back":            {change.Ordinal{For: "f", IP: ip, To: &change.Owner{Handle: "k8s-pod-network.a1a1a1a1a1a1"}}, []string{"a1a1a1a1a1a1"}, true},
	} {
		s := Step{On: model.Ref{Kind: model.KindBlock, Name: "10.0.0.0/29"}, For: []string{"f"}, Change: change.Ordinals{c.o}}
		target := &Target{Finding: "f", Risk: change.Safe, Proof: change.Proof{NotInUse: &change.NotInUse{IPs: []netip.Addr{ip}, Containers: []string{"a1a1a1a1a1a1"}, Nodes: []string{"n1"}, Except: c.except}}}
		if err := s.proven(map[string]*Target{"f": target}, true); (err == nil) != c.valid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An undo that gives one address back and releases another has no exceptions.
func TestUndoOfBothHasNoExceptions(t *testing.T) {
	t.Parallel()
	ip := netip.MustParseAddr("10.0.0.1")
	gives, takes := change.Proof{NotInUse: &change.NotInUse{IPs: []netip.Addr{ip}, Nodes: []string{"n1"}, Except: []string{"a"}}}, change.Proof{NotInUse: &change.NotInUse{IPs: []netip.Addr{ip}, Containers: []string{"b"}}}
	for _, order := range [][]change.Proof{{gives, takes, gives}, {takes, gives}, {gives, takes}} {
		u := &undoer{plan: &Plan{}, back: &Plan{}}
		for _, p := range order {
			u.Need("f", p)
		}
		if d := u.back.Target("f").Proof.NotInUse; len(d.Except) != 0 || !d.All {
			t.Errorf("%+v", d)
		}
	}
	u := &undoer{plan: &Plan{}, back: &Plan{}}
	u.Need("f", gives)
	if d := u.back.Target("f").Proof.NotInUse; len(d.Except) != 1 || d.All || len(d.Nodes) != 1 {
		t.Errorf("%+v", d)
	}
}
