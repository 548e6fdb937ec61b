package timeline

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"
)

// later lets a file go on after the story, with another pod's DEL.
func (p *pen) later(sec float64) *pen {
	return p.write(sec, DelBegin, "ffffffffffffffffffffffff", func(e *Event) { e.Pod = "other/pod" })
}

func TestUnpaired(t *testing.T) {
	t.Parallel()
	follows := func() *pen {
		return tale2017().add(1, idA, "10.0.0.1").write(50, PodKilled, "").add(87, idB, "10.0.0.2")
	}
	v := only(t, judged(t, follows().later(300).out), AddWithoutDel)[0]
	if v.Certainty != Likely || v.Culprit != idA || v.Victim != idB {
		t.Errorf("got %+v", v)
	}
	only(t, judged(t, follows().out))                                                                           // the file ends: it may yet come
	only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").del(50, idA).add(87, idB, "10.0.0.2").later(300).out)) // it came
	v = only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").write(50, PodGone, "").later(300).out), DelNeverCame)[0]
	if v.Culprit != idA || !v.At.Equal(epoch.Add(50*time.Second)) {
		t.Errorf("got %+v", v)
	}
	only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").write(50, PodGone, "").later(100).out))
	only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").write(50, PodGone, "").del(51, idA).later(300).out))
}

const (
	deadline = `rpc error: code = Unknown desc = operation timeout: context deadline exceeded`
	noSuchNS = `oci runtime error: exec failed: running lstat on namespace path \"/proc/30849/ns/ipc\" caused \"lstat /proc/30849/ns/ipc: no such file or directory\"`
)

func TestTeardownBlocked(t *testing.T) {
	t.Parallel()
	p := tale2017().write(10, PodTerminating, "").
		write(20, ContainerKillFailed, "", inside("17619dcf545c0936"), note(deadline)).
		write(21, ExecFailed, "", inside("17619dcf545c0936"), note(noSuchNS)).
		write(0, PodKillFailed, "", note(deadline), times(4), timeless)
	v := only(t, judged(t, p.out), TeardownBlocked)[0]
	if v.Certainty != Proven || v.Count != 6 || !v.At.Equal(epoch.Add(20*time.Second)) {
		t.Errorf("got %+v", v)
	}
	if want := "since 20:00:20 by a container that does not stop in time and a command that cannot enter a namespace: /proc/30849/ns/ipc is gone"; v.Says != want {
		t.Errorf("says %q", v.Says)
	}
	busy := tale2017().write(20, MountBusy, idA, object("/var/lib/docker/containers/x/shm"))
	v = only(t, judged(t, busy.out), TeardownBlocked)[0]
	if v.Says != "since 20:00:20 by a mount in use elsewhere: /var/lib/docker/containers/x/shm" {
		t.Errorf("says %q", v.Says)
	}
	// A container that ignores a signal, and a hook that does not exist, block nothing.
	only(t, judged(t, tale2017().write(10, PodKilled, "").write(40, ContainerKillFailed, "", inside("17619dcf545c0936"), note("failed to exit within 30 seconds of signal 15 - using the force")).
		write(41, SandboxStopped, idA).out))
	only(t, judged(t, tale2017().write(10, ExecFailed, "", note("command '/bin/nothing' exited with 126: no such file or directory")).out))
}

func TestReleasedInUse(t *testing.T) {
	t.Parallel()
	gc := &pen{source: "controllers", node: "slave-197", file: 1}
	gc.write(100, GCReleased, "", object("k8s-pod-network."+idA), ip("10.0.0.1"), nobody)
	running := tale2017().add(1, idA, "10.0.0.1").write(200, PodKilled, idA).del(202, idA)
	v := only(t, judged(t, running.out, gc.out), ReleasedInUse)[0]
	if v.Certainty != Proven || v.Victim != idA || v.Was.String() != "10.0.0.1" {
		t.Errorf("got %+v", v)
	}
	quiet := tale2017().add(1, idA, "10.0.0.1").later(300)
	if v := only(t, judged(t, quiet.out, gc.out), ReleasedInUse)[0]; v.Certainty != Likely || len(v.NotShown) == 0 {
		t.Errorf("got %+v", v)
	}
	only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").out, gc.out)) // the node's file ends before
	elsewhere := slices.Clone(gc.out)
	elsewhere[0].Node = "slave-198"
	if v := only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").out, elsewhere), ReleasedInUse)[0]; v.Certainty != Likely {
		t.Errorf("got %+v", v)
	}
	only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").write(50, PodKilled, idA).write(200, DelFailed, idA).later(300).out, gc.out))
	only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").write(98, PodGone, "").write(200, DelBegin, idA).later(300).out, gc.out))
	only(t, judged(t, tale2017().add(1, idA, "10.0.0.1").write(102, PodKilled, idA).later(300).out, gc.out)) // clocks could turn it round
}

func TestStaleNodename(t *testing.T) {
	t.Parallel()
	other := &pen{source: "kubelet", node: "node2", file: 1}
	other.write(1, PodSeen, "", func(e *Event) { e.Pod = "other/pod" })
	own := &pen{source: "kubelet", node: "slave-197", file: 2}
	own.write(1, PodSeen, "")
	p := tale2017().add(1, idA, "10.0.0.1").write(1, NodeNamed, idA, object("node2"))
	if v := only(t, judged(t, p.out, other.out, own.out), StaleNodename)[0]; v.Says != "Calico CNI on node slave-197 uses the node name node2" || v.Certainty != Proven {
		t.Errorf("got %+v", v)
	}
	s := judged(t, p.out) // it may be called so with right
	only(t, s)
	says(t, s.NotShown, "whether node2 is the correct node name")
	only(t, judged(t, p.out, other.out)) // slave-197 may be no more than a directory's name
	only(t, judged(t, tale2017().write(1, NodeNamed, idA, object("slave-197.example.com")).out, other.out))
}

func TestCredential(t *testing.T) {
	t.Parallel()
	v := only(t, judged(t, tale2017().write(1, CredentialSeen, idA, note("JWT")).write(50, CredentialSeen, idB, note("JWT")).out), Credential)[0]
	if v.Says != "PL9002: 2 of these lines contain a credential (JWT); it is not shown" || v.Count != 2 || len(v.Lines) != 2 {
		t.Errorf("got %+v", v)
	}
}

func TestJudgeAddresses(t *testing.T) {
	t.Parallel()
	other := func(e *Event) { e.Pod, e.Node = "other/pod", "node2" }
	give := func(l *Log, p *pen, sec float64) {
		for _, e := range append(p.out, (&pen{source: "cni", file: 1}).write(sec, AddEnd, idB, ip("10.0.0.1"), other).out...) {
			l.Add(e)
		}
	}
	l := NewLog()
	give(l, tale2017().add(1, idA, "10.0.0.1").del(200, idA), 100)
	v := JudgeAddresses(l)
	if len(v) != 1 || v[0].Pod != pod || v[0].Victim != idA || v[0].Culprit != idB || v[0].Says != "10.0.0.1 was assigned to pod other/pod while pod lijiaob/etcd1-0 still had it" {
		t.Errorf("got %+v", v)
	}
	for name, innocent := range map[string]*pen{
		"deleted before":       tale2017().add(1, idA, "10.0.0.1").del(90, idA),
		"deleted again later":  tale2017().add(1, idA, "10.0.0.1").del(90, idA).del(200, idA),
		"clocks could differ":  tale2017().add(1, idA, "10.0.0.1").del(103, idA),
		"nothing more is said": tale2017().add(1, idA, "10.0.0.1"),
	} {
		l := NewLog()
		give(l, innocent, 100)
		if v := JudgeAddresses(l); len(v) != 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestJudgeNodes(t *testing.T) {
	t.Parallel()
	l := NewLog()
	for _, e := range (&pen{source: "dockerd", node: "slave-97"}).
		write(1, MountBusy, "", nobody, inside("593d8a89ee37580673159eb3"), object("/var/lib/docker/x/shm")).
		write(2, MountBusy, "", nobody, inside("593d8a89ee37580673159eb3"), object("/var/lib/docker/x/shm")).
		write(3, CredentialSeen, "", nobody, note("JWT")).out {
		l.Add(e)
	}
	v := JudgeNodes(l)
	if len(v) != 2 || v[1].Count != 2 || v[1].Says != "by a mount in use elsewhere: /var/lib/docker/x/shm" || v[0].Cause != Credential {
		t.Errorf("got %+v", v)
	}
}

func TestStoriesJoin(t *testing.T) {
	t.Parallel()
	l := NewLog()
	p := tale2017().add(1, idA, "10.0.0.1")
	p.write(2, SandboxStopped, idA[:12], nobody).
		write(3, GCCandidate, "", nobody, object("k8s-pod-network."+idA)).
		write(4, ContainerStarted, idA, nobody, inside("17619dcf545c0936")).
		write(5, ContainerDied, "", nobody, inside("17619dcf545c")).
		write(6, PodSeen, "", uid(uidA), inside(idA)).
		write(7, PodTerminating, "", nobody, uid(uidA)).
		write(8, KubeletStarted, "", nobody).
		write(9, KubeletStarted, "", nobody, func(e *Event) { e.Node = "elsewhere" }).
		write(10, SandboxStopped, "0123456789ab", nobody)
	for _, e := range p.out {
		l.Add(e)
	}
	s := l.Pod(pod)
	var kinds []Kind
	for _, e := range s.Events {
		kinds = append(kinds, e.Kind)
		if e.Kind != KubeletStarted && e.Sandbox != idA {
			t.Errorf("%s is of %q", e.Kind, e.Sandbox)
		}
	}
	want := []Kind{
		AddBegin, AddressAssigned, EndpointWritten, AddEnd, SandboxStopped, GCCandidate, ContainerStarted, ContainerDied,
		PodSeen, PodTerminating, KubeletStarted,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("the story is %v, want %v", kinds, want)
	}
	if len(s.Sandboxes) != 1 || s.Sandboxes[0].UID != uidA || s.Sandboxes[0].Deleted.IsZero() || s.Sandboxes[0].Added.IsZero() {
		t.Errorf("sandboxes are %+v", s.Sandboxes)
	}
	if got := l.PodsOf(netip.MustParseAddr("10.0.0.1")); !slices.Equal(got, []string{pod}) {
		t.Errorf("the address was of %q", got)
	}
	if got := l.PodsOfSandbox(idA[:8]); !slices.Equal(got, []string{pod}) {
		t.Errorf("the sandbox was of %q", got)
	}
	if l.Pod("no/body") != nil || len(l.PodsOfSandbox("zz")) != 0 {
		t.Error("something is known of nobody")
	}
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	l := NewLog()
	l.limit = 2 * slabLen
	for i := range 3*slabLen + 1 {
		l.Add(Event{At: epoch.Add(time.Duration(i) * time.Second), Kind: PodSeen, Pod: fmt.Sprintf("n/p%d", i/slabLen), Place: Place{Line: uint32(i)}})
	}
	if l.Len() > l.limit || len(l.Left()) != 1 {
		t.Errorf("%d events are held, left: %q", l.Len(), l.Left())
	}
	if l.Pod("n/p0") != nil || l.Pod("n/p3") == nil {
		t.Error("not the oldest were let go")
	}
	says(t, l.Pod("n/p3").NotShown, "oldest")
}

func TestLogTakesFromMany(t *testing.T) {
	t.Parallel()
	l := NewLog()
	var many sync.WaitGroup
	for file := range uint16(4) {
		many.Go(func() {
			for i := range uint32(5000) {
				l.Add(Event{At: epoch.Add(time.Duration(i) * time.Minute), Kind: PodSeen, Pod: fmt.Sprintf("n/p%d", i%7), Place: Place{File: file, Line: i}})
			}
		})
	}
	many.Wait()
	seen := 0
	var last string
	for s := range l.Stories {
		for i := range s.Events {
			seen += len(s.Places(i))
		}
		if s.Pod <= last {
			t.Errorf("%s comes after %s", s.Pod, last)
		}
		last = s.Pod
	}
	if l.Len() != 20000 || seen != 20000 {
		t.Errorf("%d events are held, stories have %d lines", l.Len(), seen)
	}
}

func TestOrderOfLines(t *testing.T) {
	t.Parallel()
	p := tale2017()
	p.write(24.9, DelBegin, idA).write(24, ReleaseAsked, idA).write(24.1, DelEnd, idA). // stamps without fractions, and a clock set back
												write(1, AddEnd, idA) // an excerpt of before
	var kinds []Kind
	for _, e := range judged(t, p.out).Events {
		kinds = append(kinds, e.Kind)
	}
	if want := []Kind{AddEnd, DelBegin, ReleaseAsked, DelEnd}; !slices.Equal(kinds, want) {
		t.Errorf("the order is %v, want %v", kinds, want)
	}
}
