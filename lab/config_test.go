package lab

import "testing"

func TestWithDefaults(t *testing.T) {
	t.Parallel()
	got, err := Config{}.WithDefaults()
	want := Config{Name: "lab", Nodes: 2, Datastore: KDD, BlockSize: 26, Containerd: ContainerdDebian, Calico: "v3.31.0", Kubernetes: "v1.34.4", Machine: "debian12", Layout: LayoutKubeadm}
	if err != nil || got != want {
		t.Errorf("zero config: got %+v, %v; want %+v", got, err, want)
	}
	for name, c := range map[string]Config{
		"a name that is a path":       {Name: "../x"},
		"a name with a space":         {Name: "a b"},
		"a name that is too long":     {Name: "abcdefghijabcdefghijabcdefghijab"},
		"nodes without a node":        {ControlPlaneOnly: true, Nodes: 1},
		"more nodes than addresses":   {Nodes: 201},
		"a negative number of nodes":  {Nodes: -1},
		"an unknown datastore":        {Datastore: "postgres"},
		"a block that Calico refuses": {BlockSize: 19},
		"an unknown runtime":          {Containerd: "docker"},
		"an unknown Calico":           {Calico: "3.19"},
		"half a version":              {Calico: "v3.3"},
		"an unknown Kubernetes":       {Kubernetes: "1.12"},
		"an unknown machine":          {Machine: "windows"},
		"more machines than it bears": {Machines: 5},
		"an unknown layout":           {Layout: "nixos"},
		"machines with IPv6":          {Machines: 1, DualStack: true},
	} {
		if got, err := c.WithDefaults(); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}

func TestVersionsAndTraits(t *testing.T) {
	t.Parallel()
	for calico, has := range map[string]bool{"3.31": true, "v3.30.1": true, "3.29": false, "v3.22.0": false} {
		c, err := Config{Calico: calico}.WithDefaults()
		if err != nil || c.Has(LoadBalancers) != has {
			t.Errorf("Calico %s: %+v, %v", calico, c, err)
		}
	}
	for kubernetes, has := range map[string]bool{"1.36": true, "": true, "v1.30.14": false} {
		c, err := Config{Kubernetes: kubernetes}.WithDefaults()
		if err != nil || c.Has(ProxyNFTables) != has {
			t.Errorf("Kubernetes %s: %+v, %v", kubernetes, c, err)
		}
	}
}
