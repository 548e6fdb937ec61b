package timeline

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// An innocent writes a log without incidents: pods are created and deleted, their names return on
// the same node or another, addresses are given again, and kubelets collect old
// sandboxes late, which today's Calico answers by doing nothing.
type innocent struct {
	*rand.Rand
	events []Event
	lines  map[uint16]uint32
	free   []string
	skew   map[string]time.Duration
}

func (in *innocent) tell(at time.Duration, file uint16, source, node string, kind Kind, more ...func(*Event)) {
	in.lines[file]++
	e := Event{At: epoch.Add(at + in.skew[node]), Kind: kind, Source: source, Node: node, Place: Place{File: file, Line: in.lines[file]}}
	if source == "audit" {
		e.At, e.Node = epoch.Add(at), ""
	}
	for _, f := range more {
		f(&e)
	}
	if in.Float64() >= 0.01 { // one in a hundred is lost
		in.events = append(in.events, e)
	}
}

// days lets one name live several instances.
func (in *innocent) days(name string, instances int) {
	at := time.Duration(in.IntN(600)) * time.Second
	kept := ""
	for range instances {
		n := in.IntN(3)
		node := fmt.Sprintf("node%d", n)
		base := uint16(n * 4)
		id := fmt.Sprintf("%064x", in.Uint64())
		id = fmt.Sprintf("%016x", in.Uint64()) + id[16:]
		c, u := fmt.Sprintf("%016x%048x", in.Uint64(), 1), fmt.Sprintf("%08x-0000-4000-8000-000000000000", in.Uint32())
		addr := in.free[0]
		in.free = in.free[1:]
		handle := object("k8s-pod-network." + id)
		who := func(e *Event) { e.Pod, e.UID, e.Sandbox = name, u, id }
		byName := func(e *Event) { e.Pod = name }
		byID := func(e *Event) { e.Sandbox = id }
		cni := func(kind Kind, more ...func(*Event)) {
			in.tell(at, base, "cni", node, kind, append(more, who)...)
			in.tell(at, base+1, "cni", node, kind, append(more, byID)...) // containerd's copy
			at += time.Duration(in.IntN(20)) * time.Millisecond
		}
		in.tell(at, 20, "audit", node, PodSeen, byName, uid(u))
		in.tell(at, base+2, "kubelet", node, PodSeen, byName, uid(u))
		cni(AddBegin)
		cni(AddressAssigned, handle, ip(addr))
		cni(EndpointWritten, object(node+"-k8s-x-eth0"), ip(addr))
		cni(AddEnd, ip(addr))
		in.tell(at, base+1, "containerd", node, SandboxCreated, who)
		in.tell(at, base+1, "containerd", node, ContainerStarted, byID, inside(c))
		in.tell(at, base+2, "kubelet", node, ContainerStarted, byName, uid(u), inside(c))
		at += time.Duration(1+in.IntN(90)) * time.Second
		if kept != "" { // the kubelet collects an older sandbox of that name
			old := kept
			in.tell(at, base, "cni", node, DelBegin, byName, func(e *Event) { e.Sandbox = old })
			in.tell(at, base, "cni", node, EndpointKept, byName, func(e *Event) { e.Sandbox = old })
			in.tell(at, base, "cni", node, ReleaseNothing, byName, func(e *Event) { e.Sandbox = old }, object("k8s-pod-network."+old))
			in.tell(at, base, "cni", node, DelEnd, byName, func(e *Event) { e.Sandbox = old })
			at += time.Second
		}
		in.tell(at, 20, "audit", node, PodTerminating, byName, uid(u))
		in.tell(at, base+2, "kubelet", node, PodTerminating, byName)
		in.tell(at, base+2, "kubelet", node, PodKilled, byName, uid(u), inside(c))
		at += time.Duration(in.IntN(2000)) * time.Millisecond
		in.tell(at, base+1, "containerd", node, ContainerDied, byID, inside(c))
		if in.IntN(5) == 0 { // once in a while the datastore does not answer
			cni(DelBegin)
			cni(DelFailed, note("connection refused"))
			in.tell(at, base+1, "containerd", node, SandboxStopFailed, byID, note("connection refused"))
			at += 5 * time.Second
		}
		cni(DelBegin)
		cni(EndpointDeleted, object(node+"-k8s-x-eth0"))
		cni(ReleaseAsked, handle)
		cni(AddressReleased, handle, ip(addr))
		cni(DelEnd)
		in.tell(at, base+1, "containerd", node, SandboxStopped, byID)
		at += time.Second
		in.tell(at, base+2, "kubelet", node, ContainerDied, byName, uid(u), inside(c))
		in.tell(at, 20, "audit", node, PodGone, byName, uid(u))
		in.free = append(in.free, addr)
		kept = id
		at += time.Duration(in.IntN(8000)) * time.Millisecond
	}
}

// Whatever is lost, however clocks differ, and in whichever order files are read:
// innocent histories have no verdict, and nothing that is not explained.
func TestInnocentHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		in := &innocent{Rand: rand.New(rand.NewPCG(seed, 6)), lines: map[uint16]uint32{}, skew: map[string]time.Duration{}}
		for n := range 3 {
			in.skew[fmt.Sprintf("node%d", n)] = time.Duration(in.IntN(4001)-2000) * time.Millisecond
		}
		for n := range 12 {
			in.free = append(in.free, fmt.Sprintf("10.0.0.%d", n))
		}
		for n := range 6 {
			in.days(fmt.Sprintf("shop/db-%d", n), 8)
		}
		files := in.Perm(21)
		l := NewLog()
		for _, i := range in.Perm(len(in.events)) {
			e := in.events[i]
			e.Place.File = uint16(files[e.Place.File])
			l.Add(e)
		}
		stories := 0
		for s := range l.Stories {
			Judge(s)
			stories++
			for _, v := range s.Verdicts {
				t.Errorf("seed %d: %s: %s [%s] %s", seed, s.Pod, v.Cause, v.Certainty, v.Says)
			}
			for _, u := range s.Unexplained {
				t.Errorf("seed %d: %s: %s", seed, s.Pod, u.Says)
			}
		}
		if stories != 6 {
			t.Errorf("seed %d: %d stories", seed, stories)
		}
	}
}
