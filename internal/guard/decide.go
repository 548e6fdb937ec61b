package guard

import (
	"fmt"
	"time"
)

const (
	// waitForAdd is how long a DEL waits for the ADD of its own attachment.
	waitForAdd = 5 * time.Second
	// mayFinish is how long after its caller's death calico-ipam may still assign: it
	// gives itself 90 s, and waits for a lock before.
	mayFinish = 150 * time.Second
)

// Decide says what is done with a call. In observe it may say that a DEL is late, and
// nothing else: whatever comes, it is passed on at once and alone.
//
// A decision holds for what was on record when it was made. Whoever waited reads the
// record again and decides again. An attachment whose DEL is answered with success is
// recorded as deleted, also if its rest is only queued: it has no claim to its name.
func Decide(c Call, k Known) Decision {
	switch c.Verb {
	case Add:
		return add(&c, &k)
	case Del:
		return del(&c, &k)
	case Check, Status:
		return Decision{Rule: 13, Forward: true, Says: "it only reads"}
	case GC:
		return Decision{Rule: 14, Forward: true, Says: "what it may delete is decided by what lives"}
	default:
		return Decision{Forward: true, Says: "not a verb that is known"}
	}
}

func add(c *Call, k *Known) Decision {
	if own(c, k) != nil {
		return Decision{Rule: 3, Forward: true, Says: "a second ADD of one attachment: against the protocol"}
	}
	return Decision{Rule: 1, Forward: true, Says: "a new attachment"}
}

func del(c *Call, k *Known) Decision {
	o := own(c, k)
	if o == nil {
		// A sandbox from before the guard, an ADD that failed open, a lost record: who
		// knows nothing of a container has no right to call it late.
		return Decision{Rule: 6, Forward: true, Says: "an unknown container"}
	}
	d := Decision{Rule: 4, Forward: true, Says: "the name's newest owner"}
	switch {
	case newer(o, k.Newest):
		d = late(o, k)
	case o.State == Adding && k.Running:
		d.Rule, d.Says = 7, "its own ADD is running"
	case o.State == Adding:
		d.Rule, d.Says = 8, "its own ADD died"
	case o.State == Deleted:
		d.Rule, d.Says = 10, "deleted before" // the first may have met a handle that was not yet there
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

// late is the decision on an older sandbox's DEL. That it is repeated changes nothing:
// the name has another owner now, and what is found by name is the owner's.
func late(o *Owner, k *Known) Decision {
	d := Decision{
		Rule: 5, Late: true, Confirm: true,
		Says: fmt.Sprintf("late: it is of ADD %d, and the name belongs to %s since ADD %d", o.Seq, k.Newest.Container, k.Newest.Seq),
	}
	if k.Newest.State == Adding {
		d.Rule = 9
	}
	switch k.Keyed {
	case ByName, ByBoth:
		d.Unnamed = k.Keyed == ByBoth
		d.Inside = true
		d.Queue = o.State != Deleted // then nothing is left that was not done
	default:
		d.Forward = true
	}
	return d
}

// own gives the record of the call's attachment. A record of another is none.
func own(c *Call, k *Known) *Owner {
	if k.Own == nil || k.Own.Key != c.Key() {
		return nil
	}
	return k.Own
}

// newer tells whether the name belongs to a later ADD than o's. Order is the node's own
// sequence: clocks are set back, attempts start anew, and UIDs have no order.
func newer(o, newest *Owner) bool {
	return newest != nil && o.Pod != "" && newest.Name() == o.Name() && newest.Key != o.Key &&
		newest.Seq > o.Seq && newest.Holds()
}

// Holds tells whether its name may be taken. After a second ADD that failed, what the
// first one made may still be in use.
func (o *Owner) Holds() bool {
	return o.State == Adding || o.State == Added || o.State == Failed && o.Again
}
