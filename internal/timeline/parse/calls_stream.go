package parse

import (
	"slices"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// environ finds or opens the call that a line "Configured environment" belongs to. The CNI plugin
// and its IPAM plugin both write it, so a second one does not open another call; but a DEL with
// an object (a datastore request) has had both, so the next one is a retry.
func (c *calls) environ(r *records.Record, w caller) *call {
	var k *call
	for _, o := range c.near(r) {
		switch {
		case o.sandbox == w.sandbox && (o.verb == w.verb && o.object == "" || o.failedAdd()):
			k = o
		case o.sandbox == "" && o.pod == w.pod && (o.verb == unknown || o.verb == w.verb) && k == nil:
			k = o
		}
	}
	return c.joined(k, r, w)
}

// joined adds what a line names to its call, which it opens if there is none yet.
func (c *calls) joined(k *call, r *records.Record, w caller) *call {
	if k == nil {
		k = c.start(r, w)
	}
	c.name(k, w)
	k.last = r.At
	return k
}

// named finds or opens the call of a line that names a pod. If calls of several sandboxes are
// possible, as when a new sandbox is added while the old one of that name is deleted, the verb
// decides; if it does not, the result is a call without a sandbox that is kept nowhere. Of
// several calls of one sandbox, which are retries, it is the last.
func (c *calls) named(r *records.Record, w caller) *call {
	var k *call
	several := false
	for _, o := range c.near(r) {
		if o.pod != w.pod || !o.may(w.verb) {
			continue
		}
		several = several || k != nil && !k.again(o)
		k = o
	}
	if several {
		return &call{pod: w.pod, verb: w.verb, last: r.At}
	}
	return c.joined(k, r, w)
}

// only gives the call of a line that names neither pod nor sandbox: the only open call that can
// have written it (of retries the last), nil if there is none or more than one.
func (c *calls) only(r *records.Record, v verb) *call {
	var k *call
	for _, o := range c.near(r) {
		if !o.may(v) {
			continue
		}
		if k != nil && !k.again(o) {
			return nil
		}
		k = o
	}
	if k != nil {
		k.last = r.At
	}
	return k
}

// again reports whether o is a retry for the same sandbox.
func (k *call) again(o *call) bool { return k.sandbox != "" && k.sandbox == o.sandbox }

// start opens a call and adds it to underWay; beyond maxUnderWay the oldest of the stream is
// removed from it.
func (c *calls) start(r *records.Record, w caller) *call {
	k := c.open(r, w)
	list := c.underWay[k.of]
	if len(list) >= maxUnderWay {
		list = slices.Delete(list, 0, 1)
	}
	c.underWay[k.of] = append(list, k)
	return k
}

// near gives the open calls of the line's stream, and removes those that ended or are older than
// callLife.
func (c *calls) near(r *records.Record) []*call {
	p := process{r.Node, r.PID}
	list, ok := c.underWay[p]
	if !ok {
		return nil
	}
	list = slices.DeleteFunc(list, func(k *call) bool { return k.ended || !k.fresh(r, callLife) })
	if len(list) == 0 {
		delete(c.underWay, p)
		return nil
	}
	c.underWay[p] = list
	return list
}
