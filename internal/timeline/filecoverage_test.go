package timeline

import (
	"testing"
	"time"
)

// twoClocks is an ADD and another of the same name without a DEL between, and the control
// plane's word of the first endpoint, by a clock that is ahead.
func twoClocks() (node, audit *pen) {
	node, audit = tale2017().add(1, idA, "10.0.0.1").add(120, idB, "10.0.0.2"), &pen{file: 1, source: "audit"}
	audit.write(2.8, EndpointWritten, idA, ip("10.0.0.1"), object("annotations of pod "+pod))
	audit.write(121.8, EndpointWritten, idB, ip("10.0.0.2"), object("annotations of pod "+pod))
	return node, audit
}

// TestAddByItsNode: the control plane's log contains no DEL, so that what it lacks shows
// nothing; the node's does.
func TestAddByItsNode(t *testing.T) {
	t.Parallel()
	node, audit := twoClocks()
	v := only(t, judged(t, node.later(300).out, audit.out), AddressMoved, AddWithoutDel)[1]
	if v.Culprit != idA || v.Victim != idB || !v.At.Equal(epoch.Add(120*time.Second)) {
		t.Errorf("got %+v", v)
	}
	node, audit = twoClocks()
	node.out = node.out[:0]
	node.add(1, idA, "10.0.0.1").del(60, idA).add(120, idB, "10.0.0.2")
	only(t, judged(t, node.later(300).out, audit.out))
	only(t, judged(t, audit.out), AddressMoved)
}

// TestFileContinues: any line shows that a file continues, not only those with events.
func TestFileContinues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ends time.Time
		want []Cause
	}{
		"with other lines":  {epoch.Add(10 * time.Minute), []Cause{DelNeverCame}},
		"not long enough":   {epoch.Add(100 * time.Second), nil},
		"nobody knows":      {time.Time{}, nil},
		"less than its own": {epoch.Add(-time.Hour), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := NewLog()
			for _, e := range tale2017().write(0, DelBegin, "ff", nobody).add(1, idA, "10.0.0.1").write(50, PodGone, "").out {
				l.Add(e)
			}
			l.SetFiles([]File{{Ends: c.ends}})
			s := l.Pod(pod)
			Judge(s)
			only(t, s, c.want...)
		})
	}
}

// TestUnattributedDeletion: after a DEL that failed, a deletion without a sandbox may
// be the same one's at last; without it the address changed hands.
func TestUnattributedDeletion(t *testing.T) {
	t.Parallel()
	begun := func() *pen {
		return tale2017().add(1, idA, "10.0.0.1").write(50, DelBegin, idA).write(50, DelFailed, idA, note(gone))
	}
	v := only(t, judged(t, begun().add(90, idB, "10.0.0.2").out), AddressMoved)[0]
	if v.Certainty != Proven || v.Culprit != idA || v.Victim != idB {
		t.Errorf("got %+v", v)
	}
	only(t, judged(t, begun().write(58, EndpointDeleted, "", object("lijiaob.etcd1-0")).add(90, idB, "10.0.0.2").out))
	// The last try may have succeeded; but not if it is said to have failed, or fails again.
	tried := func() *pen { return begun().write(70, DelBegin, idA) }
	only(t, judged(t, tried().add(90, idB, "10.0.0.2").out))
	only(t, judged(t, tried().write(70, DelFailed, "", note(gone)).add(90, idB, "10.0.0.2").out), AddressMoved)
	only(t, judged(t, tried().add(90, idB, "10.0.0.2").write(120, DelBegin, idA).write(120, DelFailed, idA, note(gone)).out), RetriedDel, AddressMoved)
}

// TestUnattributedDel: a DEL without a sandbox may be the missing one.
func TestUnattributedDel(t *testing.T) {
	t.Parallel()
	released := func(p *pen, sec float64, more ...func(*Event)) *pen {
		return p.write(sec, ReleaseAsked, "", append(more, object("lijiaob.etcd1-0"))...)
	}
	first := func() *pen { return tale2017().add(1, idA, "10.0.0.1").write(50, PodKilled, "") }
	next := func(p *pen) []Event { return p.add(87, idB, "10.0.0.2").later(300).out }
	only(t, judged(t, next(first())), AddWithoutDel)
	only(t, judged(t, next(released(first(), 51))))
	only(t, judged(t, released(first().add(87, idB, "10.0.0.2"), 120).later(300).out), AddWithoutDel) // that is the next one's
	elsewhere := func(e *Event) { e.Node = "elsewhere" }
	only(t, judged(t, next(released(first(), 51, elsewhere))), AddWithoutDel)
	end := func() *pen { return tale2017().add(1, idA, "10.0.0.1").write(50, PodGone, "") }
	only(t, judged(t, end().later(300).out), DelNeverCame)
	only(t, judged(t, released(end(), 52).later(300).out))
}

// TestCopyContinues: one line of the ADD in a file that continues is enough, whichever it is.
func TestCopyContinues(t *testing.T) {
	t.Parallel()
	cni := tale2017().write(0, DelBegin, "ffffffffffffffffffffffff", nobody).add(1, idA, "10.0.0.1").write(50, PodGone, "")
	only(t, judged(t, cni.out))
	copied := &pen{file: 1, source: "cni", node: "slave-197"}
	copied.write(1, AddBegin, idA).later(300)
	only(t, judged(t, cni.out, copied.out), DelNeverCame)
	copied.out = copied.out[1:] // it goes on, and has nothing of this pod
	only(t, judged(t, cni.out, copied.out))
}

// TestNodeByAudit: where only the control plane shows on which node a pod is, what happens
// to that node is beside its story.
func TestNodeByAudit(t *testing.T) {
	t.Parallel()
	starts := &pen{source: "kubelet", node: "node3"}
	for i := range 8 {
		starts.write(float64(60+5*i), KubeletStarted, "", nobody)
	}
	audit := func(node string) []Event {
		return (&pen{file: 1, source: "audit"}).write(1, PodSeen, "", uid(uidA), func(e *Event) { e.Node = node }).write(70, PodTerminating, "").out
	}
	v := only(t, judged(t, starts.out, audit("node3")), TeardownBlocked)[0]
	if v.Count != 8 {
		t.Errorf("got %+v", v)
	}
	only(t, judged(t, starts.out, audit("node4")))
}
