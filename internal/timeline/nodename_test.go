package timeline

import "testing"

// TestNodesNamed has two nodes for which Calico uses another name: the pod's own, and the
// one that the IPAM garbage collector attributes it to.
func TestNodesNamed(t *testing.T) {
	t.Parallel()
	on := func(file uint16, node string, sec float64, name string) *pen {
		p := &pen{file: file, source: "kubelet", node: node}
		p.write(0, KubeletStarted, "", nobody)
		p.source = "cni"
		return p.write(sec, NodeNamed, "", nobody, object(name))
	}
	third := (&pen{file: 3, source: "kubelet", node: "n3"}).write(0, KubeletStarted, "", nobody).out
	gc := (&pen{file: 4, source: "controllers", node: "n2"}).write(40, GCCandidate, idA, ip("10.0.0.1")).out
	first := on(1, "n1", 20, "n2").add(20, idA, "10.0.0.1").out
	second := on(2, "n2", 10, "n3").out
	v := only(t, judged(t, first, second, third, gc), StaleNodename)[0]
	if v.Node != "n1" || v.Certainty != Proven {
		t.Errorf("got %+v", v)
	}
	first = on(1, "n1", 20, "n1").add(20, idA, "10.0.0.1").out
	only(t, judged(t, first, second, third, gc)) // the other node's name is not this pod's matter
}
