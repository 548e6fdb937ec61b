package object

import (
	"net/netip"
	"testing"
)

// The value is what Calico v3.31.0 wrote on the lab for this node.
func TestLabelsAreCalicos(t *testing.T) {
	t.Parallel()
	got := AffinityLabels("node1", netip.MustParsePrefix("10.244.166.128/26"))
	for k, want := range map[string]string{
		"projectcalico.org/hostname-hash": "7DS2CCNJGGLTHBDQLLFO6SX24SY2YDDEG3W2VN556FA2W4DLLV5A",
		"projectcalico.org/affinity-type": "host", "projectcalico.org/ip-version": "4",
	} {
		if got[k] != want {
			t.Errorf("%s is %s, want %s", k, got[k], want)
		}
	}
	if v := AffinityLabels("node1", netip.MustParsePrefix("fd00::/122"))["projectcalico.org/ip-version"]; v != "6" {
		t.Errorf("version %s", v)
	}
}
