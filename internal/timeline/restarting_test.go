package timeline

import (
	"slices"
	"testing"
	"time"
)

// TestRestarting checks that a teardown is blocked only since it was asked for, and that
// the kubelet's starts are not said to be why.
func TestRestarting(t *testing.T) {
	t.Parallel()
	k := &pen{source: "kubelet", node: "node2"}
	k.write(0, PodSeen, "", uid(uidA))
	for i := range 9 {
		k.write(float64(1+i), KubeletStarted, "", nobody)
	}
	asked := &pen{source: "audit", file: 1}
	asked.write(31, PodTerminating, "", uid(uidA))
	v := only(t, judged(t, k.out, asked.out), TeardownBlocked)[0]
	if v.Says != "since 20:00:31 by the kubelet, which restarts repeatedly since 20:00:01 and does not stop the pod" ||
		v.Certainty != Likely || !v.At.Equal(epoch.Add(31*time.Second)) || v.Count != 9 || v.Node != "node2" {
		t.Errorf("got %+v", v)
	}
	if !slices.Equal(v.Lines, []Place{{0, 2}, {1, 1}}) {
		t.Errorf("lines %v", v.Lines)
	}
	says(t, v.NotShown, "what blocks the kubelet")
	only(t, judged(t, k.out)) // nobody asked for its end
}

// TestLateDelByName checks that a handle that has the pod's name is not said to be the
// victim's, whose address was given under its own; and what else was lost still is.
func TestLateDelByName(t *testing.T) {
	t.Parallel()
	today := func() *pen {
		return tale2017().write(1, AddEnd, idB, ip("10.0.0.2")).write(1, AddressAssigned, idB, ip("10.0.0.2"), object("k8s-pod-network."+idB)).
			write(50, DelBegin, idA).write(50, AddressReleased, idA, object("lijiaob.etcd1-0"))
	}
	v := only(t, judged(t, today().out), LateDel)[0]
	if v.Says != "the DEL of sandbox 94feeebc95fb released handle lijiaob.etcd1-0, which is keyed by pod name and not its own, 49s after the ADD of sandbox 291716a39be9" || v.Certainty != Likely {
		t.Errorf("got %+v", v)
	}
	says(t, v.NotShown, "whether that handle held an address of sandbox 291716a39be9")
	v = only(t, judged(t, today().write(50, EndpointDeleted, idA, object("x")).out), LateDel)[0]
	if v.Says != "the DEL of sandbox 94feeebc95fb removed the endpoint and handle of sandbox 291716a39be9, 49s after its ADD" || v.Certainty != Proven {
		t.Errorf("got %+v", v)
	}
}
