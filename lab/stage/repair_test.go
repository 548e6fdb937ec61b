package stage

import (
	"strings"
	"testing"
)

func TestPlanOf(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"Plan 37f7ff: PL2001/late-del/etcd1-0, 4 steps, risk safe": "37f7ff",
		"Plan d1cdf7: 7 findings":                                  "d1cdf7", "Nothing to repair.\n": "", "No plan: all of it was refused.": "", "": "",
	} {
		if got := planOf(out); got != want {
			t.Errorf("%q: got %q", out, got)
		}
	}
}

func TestOnlyLater(t *testing.T) {
	t.Parallel()
	later, never := "remains    PL2010/a: still found after 1m5s\n", "remains    PL1001/b: refused: somebody uses it\n"
	for out, want := range map[string]bool{later: true, "not yet    1 error about the same pods\n" + later: true, "not yet    1 error\n" + never: false, later + never: false, never: false, "verified 1\n": false} {
		if got := onlyLater(out); got != want {
			t.Errorf("%q: got %v", out, got)
		}
	}
}

// TestIntact: every incomplete write is detected, and an intact IPAM passes.
func TestIntact(t *testing.T) {
	t.Parallel()
	const cidr = "10.244.0.0/26"
	at := func(i int) *int { return &i }
	block := func(handle string) []Block {
		return []Block{{CIDR: cidr, Allocations: []*int{at(0), nil, at(0)}, Attributes: []Attribute{{Handle: handle}}}}
	}
	handle := func(id string, n int) []Handle { return []Handle{{ID: id, Block: map[string]int{cidr: n}}} }
	for name, x := range map[string]struct {
		blocks  []Block
		handles []Handle
		says    string
	}{
		"intact":         {block("H"), handle("h", 2), ""},
		"nothing":        {nil, nil, ""},
		"too small":      {block("h"), handle("h", 1), "to count what"},
		"too large":      {block("h"), handle("h", 3), "to count what"},
		"orphan":         {nil, handle("h", 1), "to count what"},
		"missing":        {block("h"), nil, `a handle "h" for 2 addresses`},
		"held meanwhile": {block("plumbline-hold.x.1"), handle("plumbline-hold.x.1", 2), "held temporarily"},
	} {
		err := intact(x.blocks, x.handles)
		if (err == nil) != (x.says == "") || err != nil && !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: want %q, got %v", name, x.says, err)
		}
	}
}

// TestCompare: changed and missing pods are reported, new ones are not.
func TestCompare(t *testing.T) {
	t.Parallel()
	before := map[string]string{"a": "1", "b": "2", "c": "3"}
	err := compare(before, map[string]string{"a": "1", "b": "5", "new": "9"})
	if err == nil || strings.Contains(err.Error(), "want a unchanged") || !strings.Contains(err.Error(), "want b unchanged") || !strings.Contains(err.Error(), "want c unchanged") {
		t.Errorf("got %v", err)
	}
	if err := compare(before, before); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestAbout: a pod is excluded in whichever form a finding names it.
func TestAbout(t *testing.T) {
	t.Parallel()
	var b bystander
	b.Metadata.Namespace, b.Metadata.Name, b.Spec.NodeName, b.Status.PodIP = "shop", "db-0", "w1", "10.244.1.2"
	for finding, want := range map[string]bool{
		"PL2001/shop/db-0": true, "PL2010/10.244.1.2": true, "PL2002/shop/w1-k8s-db--0-eth0": true, "PL3001/w1/" + Device("shop", "db-0"): true,
		"PL2001/shop/db-01": false, "PL2010/10.244.1.20": false, "PL5003/w1": false, "PL2002/shop/w2-k8s-db--0-eth0": false, "nonsense": false,
	} {
		if got := b.about(finding); got != want {
			t.Errorf("%s: got %v", finding, got)
		}
	}
}
