package cri

import (
	"slices"
	"testing"
)

// TestRootNetworking asks a real runtime.
func TestRootNetworking(t *testing.T) {
	d := start(t, "/usr/bin")
	n, err := d.open().Networking(t.Context())
	if err != nil || n.ConfDir != d.dir+"/net.d" || !slices.Equal(n.BinDirs, []string{d.dir + "/bin"}) {
		t.Fatalf("%+v, %v", n, err)
	}
	if w := n.Networks; len(w) != 2 || w[1].Name != "still" || w[1].IfName != "eth0" || !slices.Equal(w[1].Types, []string{"still"}) {
		t.Errorf("%+v", w)
	}
}
