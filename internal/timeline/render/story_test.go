package render

import (
	"fmt"
	"net/netip"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

var china = time.FixedZone("", 8*3600)

func clock(h, m, s int) time.Time { return time.Date(2017, 12, 13, h, m, s, 0, china) }

const (
	oldBox = "41857f70ed13326dbc2c04e7d8e7c56c28f83df67e82e76d2fb4d74b7ab24659"
	newBox = "247d3c783345c1f2a6a5d3a4f7a1b9c0d1e2f3a4b5c6d7e8f90123456789abcd"
	oldUID = "0bdc387d-dfac-11e7-9a8f-52549da43ad9"
	newUID = "35b722f5-dfac-11e7-9a8f-52549da43ad9"
)

var kubeletLog = []timeline.File{{Name: "kubelet.log", Lines: 480, Bytes: 42129, Guessed: []string{"timestamps without a year: 2017, from the messages"}}}

// seed is the second incident of seed 000: the DEL of the old sandbox that failed until
// it found the new one's endpoint.
func seed() *timeline.Story {
	event := func(at time.Time, kind timeline.Kind, source string, line uint32, e timeline.Event) timeline.Event {
		e.At, e.Kind, e.Source, e.Node, e.Pod, e.Place = at, kind, source, "dev-slave-107", "lijiaob/stateful-new-pod-0", timeline.Place{Line: line}
		return e
	}
	old, young := timeline.Event{Sandbox: oldBox}, timeline.Event{Sandbox: newBox}
	with := func(e timeline.Event, f func(*timeline.Event)) timeline.Event { f(&e); return e }
	missing := with(old, func(e *timeline.Event) {
		e.Note = "resource does not exist: WorkloadEndpoint(node=dev-slave-107, orchestrator=k8s, workload=lijiaob.stateful-new-pod-0, name=eth0)"
	})
	handle := with(old, func(e *timeline.Event) { e.Object = "lijiaob.stateful-new-pod-0" })
	endpoint := with(old, func(e *timeline.Event) {
		e.Object = "/calico/v1/host/dev-slave-107/workload/k8s/lijiaob.stateful-new-pod-0/endpoint/eth0"
	})
	s := &timeline.Story{
		Pod: "lijiaob/stateful-new-pod-0",
		Sandboxes: []timeline.Sandbox{
			{ID: oldBox, Node: "dev-slave-107", UID: oldUID, Addresses: []netip.Addr{netip.MustParseAddr("192.168.8.33")}, Deleted: clock(10, 28, 9)},
			{ID: newBox, Node: "dev-slave-107", UID: newUID, Addresses: []netip.Addr{netip.MustParseAddr("192.168.8.34")}, Device: "cali91dded39638", Added: clock(10, 27, 49)},
		},
		Events: []timeline.Event{
			event(clock(10, 27, 42), timeline.DelBegin, "cni", 290, old),
			event(clock(10, 27, 42), timeline.EndpointMissing, "cni", 295, endpoint),
			event(clock(10, 27, 42), timeline.DelFailed, "kubelet", 296, missing),
			event(clock(10, 27, 43), timeline.SandboxStopFailed, "kubelet", 298, missing),
			event(clock(10, 27, 43), timeline.PodKillFailed, "kubelet", 301, with(missing, func(e *timeline.Event) { e.UID = oldUID })),
			event(clock(10, 27, 48), timeline.PodSeen, "kubelet", 312, timeline.Event{UID: newUID}),
			event(clock(10, 27, 48), timeline.AddBegin, "cni", 325, young),
			event(clock(10, 27, 48), timeline.CredentialSeen, "cni", 329, with(young, func(e *timeline.Event) { e.Note = "JWT" })),
			event(clock(10, 27, 49), timeline.AddEnd, "cni", 331, with(young, func(e *timeline.Event) { e.Address = netip.MustParseAddr("192.168.8.34") })),
			event(clock(10, 27, 49), timeline.EndpointWritten, "cni", 352, with(young, func(e *timeline.Event) { e.Device = "cali91dded39638" })),
			event(clock(10, 28, 9), timeline.DelBegin, "cni", 364, old),
			event(clock(10, 28, 9), timeline.CredentialSeen, "cni", 368, with(old, func(e *timeline.Event) { e.Note = "JWT" })),
			event(clock(10, 28, 9), timeline.HandleReleased, "ipam", 373, handle),
			event(clock(10, 28, 9), timeline.EndpointDeleted, "cni", 382, endpoint),
			event(clock(10, 28, 9), timeline.DelEnd, "cni", 385, old),
		},
		Verdicts: []timeline.Verdict{
			{
				Cause: timeline.LateDel, Certainty: timeline.Proven, Pod: "lijiaob/stateful-new-pod-0", Node: "dev-slave-107", At: clock(10, 28, 9), Culprit: oldBox, Victim: newBox,
				Lost: []string{"endpoint", "handle"}, Says: "the DEL of sandbox 41857f70 removed the endpoint and handle of sandbox 247d3c78, 20 s after its ADD",
				Lines: []timeline.Place{{Line: 331}, {Line: 364}, {Line: 373}, {Line: 382}},
			},
			{
				Cause: timeline.RetriedDel, Certainty: timeline.Likely, At: clock(10, 27, 42), Count: 1, Culprit: oldBox, Error: "resource does not exist", Says: "the DEL of sandbox 41857f70 fails since 10:27:42; at 10:28:09 it removed what belonged to sandbox 247d3c78",
				NotShown: []string{"who deleted the first endpoint: no line before 10:27:42 was read"}, Lines: []timeline.Place{{Line: 296}},
			},
			{
				Cause: timeline.AddressMoved, Certainty: timeline.Proven, At: clock(10, 27, 49), Was: netip.MustParseAddr("192.168.8.33"), Is: netip.MustParseAddr("192.168.8.34"),
				Says: "192.168.8.33 became 192.168.8.34", Lines: []timeline.Place{{Line: 210}, {Line: 331}},
			},
			{Cause: timeline.Credential, Certainty: timeline.Proven, Count: 2, Says: "2 of these lines contain a token; it is not shown"},
		},
	}
	return s
}

// looping is the seed with a DEL that failed 412 times.
func looping() *timeline.Story {
	s := seed()
	var loop []timeline.Event
	for i := range 412 {
		for j, e := range s.Events[:5] {
			e.At = clock(8, 0, 0).Add(time.Duration(i) * 20 * time.Second).Add(time.Duration(j) * 10 * time.Millisecond)
			loop = append(loop, e)
		}
	}
	s.Events = append(loop, s.Events[5:]...)
	return s
}

// many is a story of n sandboxes on two nodes, of which the second last robs the last.
func many(n int) *timeline.Story {
	s := &timeline.Story{Pod: "shop/db-0", NotShown: []string{"what came before: the log begins at 09:00:00"}}
	for i := range n {
		id := fmt.Sprintf("%02x%062d", 0xa0+i, i)
		node := []string{"w3", "w17"}[min(1, max(0, i-1))]
		add := clock(9, 5*i, 0)
		address := netip.AddrFrom4([4]byte{10, 1, 2, byte(i + 3)})
		box := timeline.Sandbox{ID: id, Node: node, Addresses: []netip.Addr{address}, Added: add}
		place := func(k int) timeline.Place { return timeline.Place{File: uint16(i % 3), Line: uint32(100*i + k + 1)} }
		events := []timeline.Event{
			{At: add.Add(-time.Second), Kind: timeline.SandboxCreated, Source: "containerd", Node: node, Sandbox: id, Place: place(0)},
			{At: add, Kind: timeline.AddEnd, Source: "cni", Node: node, Sandbox: id, Address: address, Place: place(1)},
		}
		if i < n-2 {
			box.Deleted = add.Add(4 * time.Minute)
			events = append(events, timeline.Event{At: box.Deleted, Kind: timeline.DelEnd, Source: "cni", Node: node, Sandbox: id, Place: place(2)})
		}
		s.Sandboxes, s.Events = append(s.Sandboxes, box), append(s.Events, events...)
	}
	if n < 2 {
		return s
	}
	from, to := &s.Sandboxes[n-2], &s.Sandboxes[n-1]
	at := to.Added.Add(90 * time.Second)
	from.Deleted = at.Add(time.Second)
	s.Events = append(s.Events,
		timeline.Event{At: at.Add(-time.Minute), Kind: timeline.KubeletStarted, Source: "kubelet", Node: to.Node, Place: timeline.Place{File: 1, Line: 900}},
		timeline.Event{At: at, Kind: timeline.EndpointDeleted, Source: "cni", Node: from.Node, Sandbox: from.ID, Place: timeline.Place{File: 1, Line: 911}},
		timeline.Event{At: at.Add(time.Second), Kind: timeline.DelEnd, Source: "cni", Node: from.Node, Sandbox: from.ID, Place: timeline.Place{File: 1, Line: 912}})
	s.Verdicts = []timeline.Verdict{{
		Cause: timeline.LateDel, Certainty: timeline.Proven, At: at, Culprit: from.ID, Victim: to.ID, Lost: []string{"endpoint"},
		Says: fmt.Sprintf("the DEL of sandbox %s removed the endpoint of sandbox %s, 90 s after its ADD", from.ID[:8], to.ID[:8]), Lines: []timeline.Place{{File: 1, Line: 911}},
	}}
	return s
}

var manyFiles = []timeline.File{
	{Name: "w3/var/log/calico/cni/cni.log", Node: "w3"},
	{Name: "w17/var/log/pods/kube-system_calico-node-x7k2p/calico-node/0.log", Node: "w17"},
	{Name: "w17/kubelet.log", Node: "w17", Left: []string{"12 lines longer than 1 MiB"}},
}

const nasty = "\x1b]0;owned\a\x1b[2J<script>alert(1)</script>\u202e\u200b\r\n\t</title></svg>\"'><img src=x onerror=alert(1)>\xff\xfe javascript:x {{.}} \u0301\u0301 中文"

// hostile has bad text wherever a log can put it.
func hostile() *timeline.Story {
	s := seed()
	s.Pod = nasty
	s.NotShown = []string{nasty}
	for i := range s.Sandboxes {
		s.Sandboxes[i].Node, s.Sandboxes[i].UID, s.Sandboxes[i].Device = nasty, nasty, nasty
	}
	s.Sandboxes = append(s.Sandboxes, timeline.Sandbox{ID: nasty, Node: "\x00"})
	for i := range s.Events {
		e := &s.Events[i]
		e.Node, e.Note, e.Object, e.Source, e.Device, e.Container = nasty, nasty+"K8S_API_TOKEN=eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJ4In0.c2ln", nasty, nasty, nasty, nasty
	}
	s.Events = append(s.Events, timeline.Event{Kind: timeline.MountBusy, Sandbox: nasty, Object: nasty, Note: nasty, Place: timeline.Place{File: 9, Line: 1 << 31}})
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		v.Says, v.Error, v.NotShown, v.Lost = nasty, nasty, []string{nasty}, []string{nasty}
	}
	return s
}

var hostileFiles = []timeline.File{{Name: "/tmp/" + nasty + "/" + nasty, Guessed: []string{nasty}, Left: []string{nasty}, Node: nasty}}
