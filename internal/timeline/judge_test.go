package timeline

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	idA  = "94feeebc95fbcf081f75bdc9bad7a97e74903e847a80b51bf89a6fadafc3ae21"
	idB  = "291716a39be97105e9169863bf847e714b3e7aed9a9add7a330e79f8a089b97b"
	uidA = "07cbebe7-7fb6-444c-8a9c-f8ec15528f6c"
	uidB = "1eb9c1b4-2a71-4ed1-96ea-feed10efa6c0"
	pod  = "lijiaob/etcd1-0"
	gone = "resource does not exist: WorkloadEndpoint(node=slave-197, orchestrator=k8s, workload=lijiaob.etcd1-0, name=eth0)"
)

var epoch = time.Date(2017, 12, 12, 20, 0, 0, 0, time.FixedZone("", 8*3600))

// A pen writes one file's events, line by line.
type pen struct {
	file   uint16
	line   uint32
	source string
	node   string
	out    []Event
}

func (p *pen) write(sec float64, kind Kind, sandbox string, more ...func(*Event)) *pen {
	p.line++
	e := Event{
		At: epoch.Add(time.Duration(sec * float64(time.Second))), Kind: kind, Source: p.source, Node: p.node, Pod: pod, Sandbox: sandbox,
		Place: Place{File: p.file, Line: p.line},
	}
	for _, f := range more {
		f(&e)
	}
	p.out = append(p.out, e)
	return p
}

func ip(a string) func(*Event)     { return func(e *Event) { e.Address = netip.MustParseAddr(a) } }
func object(o string) func(*Event) { return func(e *Event) { e.Object = o } }
func note(n string) func(*Event)   { return func(e *Event) { e.Note = n } }
func uid(u string) func(*Event)    { return func(e *Event) { e.UID = u } }
func inside(c string) func(*Event) { return func(e *Event) { e.Container = c } }
func timeless(e *Event)            { e.At = time.Time{} }
func nobody(e *Event)              { e.Pod = "" }
func times(n int) func(*Event)     { return func(e *Event) { e.Count = n } }

// tale2017 is a CNI that finds endpoints and handles by name.
func tale2017() *pen { return &pen{source: "cni", node: "slave-197"} }

func (p *pen) add(sec float64, id, addr string) *pen {
	return p.write(sec, AddBegin, id).
		write(sec, AddressAssigned, id, ip(addr), object("lijiaob.etcd1-0")).
		write(sec, EndpointWritten, id, object("lijiaob.etcd1-0")).
		write(sec, AddEnd, id, ip(addr))
}

func (p *pen) del(sec float64, id string) *pen {
	return p.write(sec, DelBegin, id).
		write(sec, ReleaseAsked, id, object("lijiaob.etcd1-0")).
		write(sec, BlockRead, id, object("192.168.176.64-26")).
		write(sec, EndpointDeleted, id, object("lijiaob.etcd1-0")).
		write(sec, DelEnd, id)
}

func judged(t *testing.T, events ...[]Event) *Story {
	t.Helper()
	l := NewLog()
	for _, list := range events {
		for _, e := range list {
			l.Add(e)
		}
	}
	s := l.Pod(pod)
	if s == nil {
		t.Fatal("the pod has no story")
	}
	Judge(s)
	return s
}

func only(t *testing.T, s *Story, want ...Cause) []Verdict {
	t.Helper()
	var got []Cause
	for _, v := range s.Verdicts {
		got = append(got, v.Cause)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("verdicts are %q, want %q: %+v", got, want, s.Verdicts)
	}
	return s.Verdicts
}

func says(t *testing.T, list []string, part string) {
	t.Helper()
	if !slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, part) }) {
		t.Errorf("%q does not say %q", list, part)
	}
}

func TestLateDel(t *testing.T) {
	t.Parallel()
	p := tale2017().add(87, idB, "192.168.252.66").del(144, idA)
	v := only(t, judged(t, p.out), LateDel)[0]
	if v.Certainty != Proven || v.Culprit != idA || v.Victim != idB || !slices.Equal(v.Lost, []string{"endpoint"}) || !v.At.Equal(epoch.Add(144*time.Second)) {
		t.Errorf("got %+v", v)
	}
	if v.Says != "the DEL of sandbox 94feeebc95fb removed the endpoint of sandbox 291716a39be9, 57s after its ADD" {
		t.Errorf("says %q", v.Says)
	}
	says(t, v.NotShown, "whether 192.168.252.66 was released: a release by name was requested, but only block 192.168.176.64-26 was read")
	for _, line := range []uint32{4, 5, 8} { // the ADD's end, the DEL and the deletion
		if !slices.Contains(v.Lines, Place{Line: line}) {
			t.Errorf("lines %v lack %d", v.Lines, line)
		}
	}
}

func TestLateDelTwins(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]Event{
		"the DEL came before the next ADD": tale2017().add(1, idA, "10.0.0.1").del(50, idA).add(87, idB, "10.0.0.2").out,
		"it kept the endpoint": tale2017().add(1, idA, "10.0.0.1").add(87, idB, "10.0.0.2").write(144, DelBegin, idA).
			write(144, EndpointKept, idA).write(144, AddressReleased, idA, object("k8s-pod-network."+idA)).write(144, DelEnd, idA).out,
		"the newer one's own DEL came first": tale2017().add(1, idA, "10.0.0.1").add(87, idB, "10.0.0.2").
			del(100, idB).del(144, idA).out,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			only(t, judged(t, events))
		})
	}
}

func TestLateDelOnAnotherNode(t *testing.T) {
	t.Parallel()
	here, there := tale2017(), tale2017()
	there.file, there.node = 1, "slave-198"
	there.add(87, idB, "192.168.252.66")
	here.add(1, idA, "192.168.1.1").write(144, DelBegin, idA).write(144, HandleReleased, idA, object("lijiaob.etcd1-0")).
		write(144, EndpointDeleted, idA, object("/calico/v1/host/slave-197/workload/k8s/lijiaob.etcd1-0")).write(144, DelEnd, idA)
	v := only(t, judged(t, here.out, there.out), LateDel)[0]
	if v.Certainty != Likely || !slices.Equal(v.Lost, []string{"handle"}) {
		t.Errorf("an order by two clocks, and an endpoint that is the node's own: got %+v", v)
	}
}

func TestLateDelInside(t *testing.T) {
	t.Parallel()
	p := &pen{source: "containerd", node: "node1"}
	p.add(1, idA, "10.0.0.1").add(30, idB, "10.0.0.2").
		write(40, DelBegin, idA).write(40.1, EndpointKept, idA).write(40.2, DelEnd, idA).
		write(40.3, DelBegin, idB).write(40.4, AddressReleased, idB, object("k8s-pod-network."+idB)).write(40.5, DelEnd, idB).
		write(40.6, SandboxStopped, idA)
	k := &pen{source: "kubelet", node: "node1", file: 1}
	k.write(35, ContainerStarted, idB, uid(uidB)).write(50, PodKilled, "", uid(uidB))
	v := only(t, judged(t, p.out, k.out), LateDel)[0]
	if v.Certainty != Proven || v.Culprit != idA || v.Victim != idB || !slices.Equal(v.Lost, []string{"address"}) {
		t.Errorf("got %+v", v)
	}
	says(t, v.NotShown, "whether the endpoint of sandbox 291716a39be9 was deleted")
	shown := (&pen{source: "containerd", node: "node1", line: 90}).write(40.35, EndpointDeleted, idB, object("x"))
	if v := only(t, judged(t, p.out, k.out, shown.out), LateDel)[0]; !slices.Equal(v.Lost, []string{"address", "endpoint"}) {
		t.Errorf("got %+v", v)
	}
	k.out[1].At = epoch.Add(38 * time.Second) // now its end was asked for before
	only(t, judged(t, p.out, k.out))
}

// TestLateDelInsideLongStop has a node on which one stop takes a minute. What is not one stop, or not
// in one file, tells nothing.
func TestLateDelInsideLongStop(t *testing.T) {
	t.Parallel()
	long := func(tail float64, more ...func(*pen)) []Event {
		p := &pen{source: "containerd", node: "node1"}
		p.add(1, idA, "10.0.0.1").add(30, idB, "10.0.0.2").write(40, DelBegin, idA).write(62, DelEnd, idA)
		if len(more) > 0 {
			more[0](p)
		}
		p.write(87, EndpointDeleted, idB).write(90, AddressReleased, idB, object("k8s-pod-network."+idB)).write(95, DelEnd, idB)
		if len(more) > 1 {
			more[1](p)
		}
		return p.write(tail, SandboxStopped, idA).out
	}
	nothing := func(*pen) {}
	v := only(t, judged(t, long(99)), LateDel)[0]
	if v.Certainty != Likely || v.Culprit != idA || v.Victim != idB || !slices.Equal(v.Lost, []string{"address", "endpoint"}) {
		t.Errorf("got %+v", v)
	}
	only(t, judged(t, long(161))) // longer than any request of a kubelet
	for _, end := range []Kind{SandboxStopped, SandboxStopFailed, SandboxRemoved, PodKillFailed} {
		only(t, judged(t, long(99, func(p *pen) { p.write(70, end, idA) })))
	}
	only(t, judged(t, long(99, nothing, func(p *pen) { p.write(97, SandboxStopFailed, idA) })))
	apart := long(99)
	apart[len(apart)-1].Place.File = 7
	ran := (&pen{source: "kubelet", node: "node1", file: 1}).write(35, ContainerStarted, idB, uid(uidB)).write(110, PodKilled, "", uid(uidB))
	only(t, judged(t, apart))
	only(t, judged(t, apart, ran.out))
	if v := only(t, judged(t, long(99), ran.out), LateDel)[0]; v.Certainty != Proven {
		t.Errorf("got %+v", v)
	}
}

// TestLateDelInsideOwnStop: the node collects an older sandbox slowly while the pod is deleted: its own stop ended it.
func TestLateDelInsideOwnStop(t *testing.T) {
	t.Parallel()
	for _, end := range []float64{90.5, 99} { // within ten seconds, and in a long stop
		p := &pen{source: "containerd", node: "node1"}
		p.add(1, idA, "10.0.0.1").add(30, idB, "10.0.0.2").write(80, DelBegin, idA).write(81, DelEnd, idA)
		if end > 95 {
			p.out[len(p.out)-2].At, p.out[len(p.out)-1].At = epoch.Add(40*time.Second), epoch.Add(62*time.Second)
		}
		p.write(86, DelBegin, idB).write(87, EndpointDeleted, idB).write(88, AddressReleased, idB, object("k8s-pod-network."+idB)).write(89, DelEnd, idB)
		p.write(90, SandboxStopped, idB).write(end, SandboxStopped, idA)
		only(t, judged(t, p.out))
		k := &pen{source: "kubelet", node: "node1", file: 1}
		k.write(35, ContainerStarted, idB, uid(uidB)).write(90.2, ContainerDied, idB, uid(uidB))
		only(t, judged(t, p.out, k.out))
	}
}

func TestRetriedDel(t *testing.T) {
	t.Parallel()
	fail := func(p *pen, sec float64) *pen {
		return p.write(sec, DelBegin, idA).write(sec, DelFailed, "", note(gone)).
			write(sec+.2, SandboxStopFailed, idA, note(`rpc error: code = 2 desc = NetworkPlugin cni failed to teardown pod "etcd1-0_lijiaob" network: `+gone))
	}
	t.Run("again and again", func(t *testing.T) {
		t.Parallel()
		v := only(t, judged(t, fail(fail(fail(tale2017(), 18), 78), 138).out), RetriedDel)[0]
		if v.Certainty != Proven || v.Count != 3 || !v.At.Equal(epoch.Add(18*time.Second)) || v.Culprit != idA || v.Error != gone {
			t.Errorf("got %+v", v)
		}
	})
	t.Run("seen since", func(t *testing.T) {
		t.Parallel()
		s := judged(t, fail(tale2017(), 18).add(87, idB, "192.168.252.66").del(144, idA).out)
		v := only(t, s, LateDel, RetriedDel)[1]
		if v.Certainty != Likely || v.Count != 1 || !v.At.Equal(epoch.Add(18*time.Second)) || !v.Until.Equal(epoch.Add(144*time.Second)) || v.Victim != idB {
			t.Errorf("got %+v", v)
		}
		says(t, v.NotShown, "who deleted the first endpoint: no line before 20:00:18")
	})
	t.Run("once, and then it went well", func(t *testing.T) {
		t.Parallel()
		only(t, judged(t, fail(tale2017(), 18).del(28, idA).add(87, idB, "10.0.0.1").out))
	})
	t.Run("twice within a minute, and then it went well", func(t *testing.T) {
		t.Parallel()
		only(t, judged(t, fail(fail(tale2017(), 18), 30).del(50, idA).out))
	})
	t.Run("told by two", func(t *testing.T) {
		t.Parallel()
		p, k := tale2017(), &pen{source: "kubelet", node: "slave-197", file: 1}
		p.write(18, SandboxStopFailed, idA, note(gone))
		k.write(18.3, SandboxStopFailed, idA, note("rpc error: "+gone))
		s := judged(t, p.out, k.out)
		only(t, s)
		if len(s.Events) != 1 || len(s.Places(0)) != 2 {
			t.Errorf("one event logged twice is %d events", len(s.Events))
		}
	})
}

func TestAddressMoved(t *testing.T) {
	t.Parallel()
	p := &pen{source: "kubelet", node: "n"}
	p.write(550, PodSeen, "", uid(uidA), ip("192.168.247.220"), inside("6a661302e2726a1c")).
		write(648, PodWithoutInterface, "").
		write(705, PodSeen, "", uid(uidB), ip("192.168.247.231"), inside("f8189c4b982a4e74"))
	v := only(t, judged(t, p.out), AddressMoved)[0]
	if v.Was.String() != "192.168.247.220" || v.Is.String() != "192.168.247.231" || v.Certainty != Proven || !v.Until.Equal(epoch.Add(705*time.Second)) {
		t.Errorf("got %+v", v)
	}
	says(t, v.NotShown, "no line shows that pod UID 07cbebe7 was killed, stopped or deleted")
	says(t, v.NotShown, "eth0")
	p.write(600, PodKilled, "", uid(uidA)) // now the kubelet ended the first: an ordinary recreation
	only(t, judged(t, p.out))
}

func TestAddressMovedAfterFailedDel(t *testing.T) {
	t.Parallel()
	p := tale2017()
	p.write(0, PodSeen, "", ip("192.168.8.33"), timeless).
		write(18, SandboxStopFailed, idA, note(gone)).
		add(25, idB, "192.168.8.34").
		write(45, DelBegin, idA).write(45, HandleReleased, idA, object("lijiaob.etcd1-0")).write(45, EndpointDeleted, idA, object("x")).write(45, DelEnd, idA)
	v := only(t, judged(t, p.out), LateDel, RetriedDel, AddressMoved)
	if !slices.Equal(v[0].Lost, []string{"endpoint", "handle"}) || v[2].Was.String() != "192.168.8.33" || v[2].Is.String() != "192.168.8.34" {
		t.Errorf("got %+v", v)
	}
}
