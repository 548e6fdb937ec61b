package parse

import (
	"net/netip"
	"slices"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// A verb is what a call of CNI is to do, as far as its lines tell.
type verb byte

const (
	unknown verb = 0
	add     verb = 'A'
	del     verb = 'D'
)

// A process writes lines: Calico's own of today, the kubelet for the one of 2017.
type process struct {
	node string
	pid  int
}

// A call is one call of CNI, and what its lines have told so far.
type call struct {
	of      process
	main    int       // the plugin's own process, where its lines have it; IPAM's is another
	bound   []process // that stand for this call
	verb    verb
	sandbox string
	pod     string
	netns   bool // a DEL that still has a network namespace to clean
	ended   bool
	last    time.Time

	addresses []netip.Addr // that the sandbox has
	given     []netip.Addr // that this call was told to have been given
	device    string
	asked     word   // deleteKey: the datastore was asked to delete …
	object    string // … this
	told      uint64 // kinds of events
}

// once tells whether the call has not told of this yet, and takes note of it.
func (k *call) once(kind timeline.Kind) bool {
	if k.has(kind) {
		return false
	}
	k.told |= 1 << kind
	return true
}

func (k *call) has(kind timeline.Kind) bool { return k.told&(1<<kind) != 0 }

// maxAddresses bounds the addresses of one call: two are usual.
const maxAddresses = 8

// got takes note of an address.
func (k *call) got(a netip.Addr) {
	if a.IsValid() && !slices.Contains(k.addresses, a) && len(k.addresses) < maxAddresses {
		k.addresses = append(slices.Clip(k.addresses), a)
	}
}

// gave takes note of an address that IPAM gave, and tells whether it is news.
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

// event begins an event with what is known of the call.
func (k *call) event(kind timeline.Kind) timeline.Event {
	return timeline.Event{Kind: kind, Pod: k.pod, Sandbox: k.sandbox}
}

// fresh tells whether a call's last line is so near that this one may be its next.
// Without stamps all lines are near. Lines that people paste need not be in order.
func (k *call) fresh(r *records.Record, life time.Duration) bool {
	return r.At.IsZero() || k.last.IsZero() || r.At.Sub(k.last).Abs() <= life
}

// failedAdd tells whether a call is an ADD that takes back what it took.
func (k *call) failedAdd() bool { return k.verb == add && k.has(timeline.AddFailed) }

// may tells whether a call can have written a line that such calls write.
func (k *call) may(v verb) bool {
	return v == unknown || k.verb == unknown || k.verb == v || k.failedAdd()
}
