package parse

import (
	"net/netip"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A verb is the CNI command of a call, unknown until a line shows it.
type verb byte

const (
	unknown verb = 0
	add     verb = 'A'
	del     verb = 'D'
)

// A process is the writer of lines: for current lines the CNI plugin, for lines of 2017 the
// kubelet. pid is 0 if the lines have none.
type process struct {
	node string
	pid  int
}

// A call is one CNI call, and what its lines have shown so far.
type call struct {
	of      process   // the writer of the line that opened it; key in calls.underWay
	main    int       // process ID of the CNI plugin, 0 until a line shows it; its IPAM plugin has another
	bound   []process // processes whose lines belong to this call, at most 16: plugin and IPAM plugin
	verb    verb
	sandbox string
	pod     string
	netns   bool      // a DEL that still has a network namespace to clean
	ended   bool      // no more lines are expected
	last    time.Time // of its last line

	addresses []netip.Addr // of the sandbox, also from earlier calls; at most maxAddresses
	given     []netip.Addr // assigned by IPAM in this call; at most maxAddresses
	device    string
	asked     word   // deleteKey if the last line requests the deletion of object in the datastore, else silence
	object    string // key of the last datastore request
	told      uint64 // bit set of the kinds of events already emitted for this call
}

// once reports whether no event of this kind was emitted for the call, and notes that one is now.
func (k *call) once(kind timeline.Kind) bool {
	if k.has(kind) {
		return false
	}
	k.told |= 1 << kind
	return true
}

// has reports whether an event of this kind was emitted for the call.
func (k *call) has(kind timeline.Kind) bool { return k.told&(1<<kind) != 0 }

// maxAddresses bounds the addresses of one call: two are usual.
const maxAddresses = 8

// got adds an address of the sandbox.
func (k *call) got(a netip.Addr) {
	if a.IsValid() && !slices.Contains(k.addresses, a) && len(k.addresses) < maxAddresses {
		k.addresses = append(slices.Clip(k.addresses), a)
	}
}

// gave adds an address that IPAM assigned in this call, and reports whether it is new.
func (k *call) gave(a netip.Addr) bool {
	if !a.IsValid() || slices.Contains(k.given, a) || len(k.given) >= maxAddresses {
		return false
	}
	k.got(a)
	k.given = append(k.given, a)
	return true
}

// address gives the first of the call's addresses.
func (k *call) address() netip.Addr {
	if len(k.addresses) == 0 {
		return netip.Addr{}
	}
	return k.addresses[0]
}

// event starts an event with the pod and sandbox of the call.
func (k *call) event(kind timeline.Kind) timeline.Event {
	return timeline.Event{Kind: kind, Pod: k.pod, Sandbox: k.sandbox}
}

// fresh reports whether the call's last line is at most life away from r, before or after: pasted
// lines need not be in order. Without timestamps it is true.
func (k *call) fresh(r *records.Record, life time.Duration) bool {
	return r.At.IsZero() || k.last.IsZero() || r.At.Sub(k.last).Abs() <= life
}

// failedAdd reports whether the call is an ADD that failed: it then releases what it was
// assigned, with the same lines as a DEL.
func (k *call) failedAdd() bool { return k.verb == add && k.has(timeline.AddFailed) }

// may reports whether the call can have written a line of a call with verb v.
func (k *call) may(v verb) bool {
	return v == unknown || k.verb == unknown || k.verb == v || k.failedAdd()
}
