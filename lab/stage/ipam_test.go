package stage

import "testing"

func TestOwner(t *testing.T) {
	t.Parallel()
	zero, nine := 0, 9
	b := Block{
		CIDR: "10.244.1.64/26", Allocations: make([]*int, 64),
		Attributes: []Attribute{{Handle: "h"}},
	}
	b.Allocations[3] = &zero
	b.Allocations[4] = &nine // an index without an attribute
	for ip, want := range map[string]string{
		"10.244.1.67": "h", "10.244.1.66": "", "10.244.1.68": "", "10.244.1.3": "", "10.244.2.67": "", "nonsense": "",
	} {
		if got, ok := b.Owner(ip); got.Handle != want || ok != (want != "") {
			t.Errorf("owner of %s is %q, %v; want %q", ip, got.Handle, ok, want)
		}
	}
	if _, ok := (Block{CIDR: "nonsense"}).Owner("10.0.0.1"); ok {
		t.Error("a block without a CIDR has an owner")
	}
}

func TestDeviceIsNamedAsCalicoDoes(t *testing.T) {
	t.Parallel()
	// Observed on a node: pod web-2ncks in default.
	if got := Device("default", "web-2ncks"); got != "cali2b2a911d4b3" {
		t.Errorf("got %s", got)
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]string{"10.0.0.1": "http://10.0.0.1:8080/", "fd44::1": "http://[fd44::1]:8080/", "x": "http://invalid/"} {
		if got := URL(ip); got != want {
			t.Errorf("%s gives %s, want %s", ip, got, want)
		}
	}
}
