package lab

import "testing"

func TestWithDefaults(t *testing.T) {
	t.Parallel()
	got, err := Config{}.WithDefaults()
	want := Config{Name: "lab", Nodes: 2, Datastore: KDD, BlockSize: 26, Containerd: ContainerdDebian, Machine: "debian12", Layout: LayoutKubeadm}
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
