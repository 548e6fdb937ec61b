package parse

import (
	"slices"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// environ finds or opens the call that "Configured environment" belongs to. The plugin
// and its IPAM both write it, so the second one is not another call; but a DEL that has
// got as far as the endpoint has had both.
func (c *calls) environ(r *records.Record, w caller) *call {
	list := c.near(r)
	var k *call
	for _, o := range list {
		switch {
		case o.sandbox == w.sandbox && (o.verb == w.verb && o.object == "" || o.failedAdd()):
			k = o
		case o.sandbox == "" && o.pod == w.pod && (o.verb == unknown || o.verb == w.verb) && k == nil:
			k = o
		}
	}
	if k == nil {
		k = c.start(r, w)
	}
	c.name(k, w)
	k.last = r.At
	return k
}

// named finds the call of a line that names a pod. Where two may be meant, as when a new
// sandbox is added while the old one of that name is deleted, the verb decides; where it
// doesn't, the sandbox stays unknown. A call that is tried again is the same sandbox's.
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
	if k == nil {
		k = c.start(r, w)
	}
	c.name(k, w)
	k.last = r.At
	return k
}

// only gives the call of a line that names nobody: the only one under way that can have
// written it, or nil.
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

// again tells whether another call is of the same sandbox: the last of them is under way.
func (k *call) again(o *call) bool { return k.sandbox != "" && k.sandbox == o.sandbox }

// start opens a call among those under way.
func (c *calls) start(r *records.Record, w caller) *call {
	k := c.open(r, w)
	list := c.underWay[k.of]
	if len(list) >= maxUnderWay {
		list = slices.Delete(list, 0, 1)
	}
	c.underWay[k.of] = append(list, k)
	return k
}

// near gives the calls of this line's stream that are still under way.
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
