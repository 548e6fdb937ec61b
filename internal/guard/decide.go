package guard

import (
	"fmt"
	"time"
)

const (
	// waitForAdd is how long a DEL waits for the ADD of its own attachment.
	waitForAdd = 5 * time.Second
	// mayFinish is how long after its caller has exited calico-ipam may still assign an
	// address: its own limit is 90 s, and before that it waits for a lock.
	mayFinish = 150 * time.Second
)

// Decide returns what the guard does with a call. In observe a decision only reports that a
// DEL is late: every call is passed on at once, and nothing else is done.
//
// A decision is valid for the records that were read for it: a caller that has waited must
// read the records again and decide again. An attachment whose DEL is answered with success
// is recorded as deleted, also if part of the DEL is only queued: it no longer owns its
// name.
func Decide(c Call, k Known) Decision {
	switch c.Verb {
	case Add:
		return add(&c, &k)
	case Del:
		return del(&c, &k)
	case Check, Status:
		return Decision{Rule: 13, Forward: true, Says: "CHECK and STATUS only read"}
	case GC:
		return Decision{Rule: 14, Forward: true, Says: "the guard daemon decides which attachments may be deleted"}
	default:
		return Decision{Forward: true, Says: "unknown CNI command"}
	}
}

func add(c *Call, k *Known) Decision {
	if own(c, k) != nil {
		return Decision{Rule: 3, Forward: true, Says: "second ADD of the same attachment, which violates the CNI protocol"}
	}
	return Decision{Rule: 1, Forward: true, Says: "new attachment"}
}

func del(c *Call, k *Known) Decision {
	o := own(c, k)
	if o == nil {
		// The sandbox may be older than the guard, its ADD may not have been recorded, or
		// its record was lost: without a record a DEL cannot be called late.
		return Decision{Rule: 6, Forward: true, Says: "container without an ownership record"}
	}
	d := Decision{Rule: 4, Forward: true, Says: "the container is the newest owner of the pod name"}
	switch {
	case newer(o, k.Newest):
		d = late(o, k)
	case o.State == Adding && k.Running:
		d.Rule, d.Says = 7, "the ADD of the same container is running"
	case o.State == Adding:
		d.Rule, d.Says = 8, "the ADD of the same container exited without a result"
	case o.State == Deleted:
		d.Rule, d.Says = 10, "a DEL of this container succeeded before" // the handle may not have existed yet when the first DEL ran
	}
	if k.Mode != Enforce {
		return Decision{Rule: d.Rule, Late: d.Late, Confirm: d.Confirm, Forward: true, Says: d.Says}
	}
	if o.State == Adding {
		d.Again = mayFinish
		if k.Running {
			d.Wait = waitForAdd
		}
	}
	return d
}

// late decides on the DEL of an older sandbox. A repeated DEL is decided in the same way:
// the name has another owner now, and what the delegate finds by name belongs to that
// owner.
func late(o *Owner, k *Known) Decision {
	d := Decision{
		Rule: 5, Late: true, Confirm: true,
		Says: fmt.Sprintf("late: it belongs to ADD %d, and %s owns the pod name since ADD %d", o.Seq, k.Newest.Container, k.Newest.Seq),
	}
	if k.Newest.State == Adding {
		d.Rule = 9
	}
	switch k.Keyed {
	case ByName, ByBoth:
		d.Unnamed = k.Keyed == ByBoth
		d.Inside = true
		d.Queue = o.State != Deleted // a deleted attachment has nothing left to delete
	default:
		d.Forward = true
	}
	return d
}

// own returns the record of the call's attachment, nil if k.Own is another attachment's.
func own(c *Call, k *Known) *Owner {
	if k.Own == nil || k.Own.Key != c.Key() {
		return nil
	}
	return k.Own
}

// newer reports whether the name belongs to a later ADD than o's. The node's own sequence
// gives the order: clocks are set back, attempt numbers restart, and UIDs have no order.
func newer(o, newest *Owner) bool {
	return newest != nil && o.Pod != "" && newest.Name() == o.Name() && newest.Key != o.Key &&
		newest.Seq > o.Seq && newest.Holds()
}

// Holds reports whether the attachment may still own its name. After a second ADD that
// failed, what the first ADD created may still be in use.
func (o *Owner) Holds() bool {
	return o.State == Adding || o.State == Added || o.State == Failed && o.Again
}
