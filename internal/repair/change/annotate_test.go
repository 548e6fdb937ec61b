package change

import (
	"net/netip"
	"testing"

	"plumbline.dev/plumbline/internal/model"
)

// An annotation with fewer addresses than the running pod has takes them from it.
func TestAnnotateAllAddresses(t *testing.T) {
	t.Parallel()
	ip := netip.MustParsePrefix("10.0.0.1/32")
	running := &RunningPod{Namespace: "shop", Pod: "db-1", UID: "u", Container: "c", IPs: []netip.Addr{ip.Addr()}}
	u := Use{On: model.Ref{Kind: model.KindPod, Name: "shop/db-1"}, For: []string{"f"}, Proofs: map[string]*Proof{"f": {Running: running}}}
	a := &Annotate{UID: "u", Container: "c", From: "old", IPs: []netip.Prefix{ip}, Blocks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/29")}}
	if err := a.Validate(u); err != nil {
		t.Error(err)
	}
	running.IPs = append(running.IPs, netip.MustParseAddr("fd00::1"))
	if a.Validate(u) == nil {
		t.Error("it takes one of two addresses from a running pod")
	}
	a.IPs = nil
	if a.Validate(u) == nil {
		t.Error("it clears the annotation of a running pod")
	}
}
