package ownerdb

import (
	"slices"

	"plumbline.dev/plumbline/internal/guard"
)

// A call is a guard's process, or the agent's that works off the queue. It goes one step
// at a time, and others go in between.
type call struct {
	verb   guard.Verb
	queued bool // from the queue: nobody waits for it
	box    *sandbox
	number int
	step   int
	waited int
	fault  *guard.DelegateError // what the delegate will say
	half   bool                 // the delegate does it, and says that it has not
	kill   int                  // at this step; 0: never
	own    *guard.Owner
	is     guard.Known
	does   guard.Decision
	saw    int  // the order of the latest ADD when it was decided
	knew   bool // the container was on record then
	err    *guard.DelegateError
	before sandbox
}

func (c *call) request() guard.Call {
	return guard.Call{Verb: c.verb, Network: "net", Container: c.box.id, IfName: "eth0", Namespace: "ns", Pod: c.box.pod}
}

// look reads the record as the guard does.
func (s *sim) look(c *call) {
	r := c.request()
	own, _ := s.b.Owner(r.Key())
	name := r.Name()
	if own != nil {
		name = own.Name()
	}
	newest, _ := s.b.Newest(name)
	c.own = own
	c.is = guard.Known{Own: own, Newest: newest, Keyed: s.keyed, Mode: s.mode}
	c.is.Running = own != nil && own.State == guard.Adding && slices.ContainsFunc(s.calls, func(o *call) bool { return o.number == own.PID })
	c.saw, c.knew = s.order, own != nil
}

func (s *sim) end(c *call, state guard.State) {
	if c.own != nil && !s.bare {
		c.own.State = state
		_ = s.b.End(*c.own)
	}
}

func (s *sim) queue(c *call, after int64) {
	r := c.request()
	r.Verb = guard.Del
	_ = s.b.Queue(guard.QueuedDel{Call: r, At: s.turn + after})
}

func (s *sim) unqueue(c *call) {
	_ = s.b.Unqueue(guard.Key{Network: "net", Container: c.box.id, IfName: "eth0"})
}

// addStep does an ADD's next step and tells whether it was the last.
func (s *sim) addStep(c *call) bool {
	switch c.step {
	case 1: // intent
		s.order++
		c.before = *c.box
		c.box.order, c.box.running, c.box.failed, c.box.closed = s.order, true, false, false
		if s.bare {
			return false
		}
		o := attachment(c.box.id, c.box.pod)
		o.PID, o.Start = c.number, s.kills.Uint64N(1000) // by a clock that is set back and forth
		if begun, err := s.b.Begin(o); err == nil {
			c.own, c.box.recorded = &begun, true
		}
	case 2:
		if s.givesWay(c) {
			c.step--
			return false
		}
		if c.err = c.fault; c.err == nil || c.half {
			s.add(c.box)
		}
		c.box.failed = c.err != nil
	case 3: // result
		if c.err == nil {
			s.end(c, guard.Added)
			return s.answered(c)
		}
		s.end(c, guard.Failed)
		if s.mode != guard.Enforce || s.bare {
			return s.answered(c)
		}
		s.announces(c)
		s.look(c)
		if c.does = s.mutant.clean(c.request(), c.is); c.does.Queue {
			s.queue(c, 30)
		}
		if !c.does.Forward && !c.does.Unnamed {
			return s.answered(c)
		}
	case 4:
		if s.deed(c) == nil && c.does.Forward {
			s.end(c, guard.Deleted)
			s.unqueue(c)
		}
		return s.answered(c)
	}
	return false
}

// announces says that a DEL of the name may be handed on.
func (s *sim) announces(c *call) {
	if s.mode == guard.Enforce && s.keyed != guard.ByContainer {
		r := c.request()
		_ = s.b.Deleting(r.Name(), Deleter{Container: r.Container, PID: c.number})
	}
}

// patience is how often an ADD lets others go first.
const patience = 12

// givesWay tells whether an ADD waits for a DEL of its name that was decided before it.
func (s *sim) givesWay(c *call) bool {
	if s.bare || s.mode != guard.Enforce || !s.mutant.givesWay {
		return false
	}
	r := c.request()
	all, _ := s.b.Deleters(r.Name())
	c.waited++
	return c.waited <= patience && slices.ContainsFunc(all, func(d Deleter) bool {
		return d.Container != c.box.id && slices.ContainsFunc(s.calls, func(o *call) bool { return o.number == d.PID })
	})
}

// delStep does a DEL's next step.
func (s *sim) delStep(c *call) bool {
	switch c.step {
	case 1:
		if !s.bare && !s.decide(c) {
			c.step-- // it waits
			return false
		}
		if c.queued && !c.does.Forward && !c.does.Unnamed {
			return true
		}
	case 2:
		c.err = nil
		if s.bare || c.does.Forward || c.does.Unnamed {
			c.err = s.deed(c)
		}
	case 3:
		done := c.err == nil && (c.does.Forward || s.bare) || c.queued && c.err != nil && c.err.Fault() == guard.NoEndpoint
		if done && c.queued { // only it: what is queued may be for a delegate that has not yet come to its end
			s.unqueue(c)
		}
		if !c.queued && c.err != nil && !s.bare && s.mutant.succeed(c.request(), c.is, *c.err, c.box.gone) {
			s.queue(c, 30)
			if f := c.err.Fault(); f != guard.NoEndpoint && f != guard.NoNamespace {
				s.hurt("an error of %q became success", f)
			}
			c.err = nil
		}
		if done || c.err == nil { // what was not done is in the queue: the name is free of it
			s.end(c, guard.Deleted)
		}
		return c.queued || s.answered(c)
	}
	return false
}

// decide decides a DEL, and tells whether it can go on.
func (s *sim) decide(c *call) bool {
	s.announces(c)
	s.look(c)
	if c.queued {
		c.does = s.mutant.replay(c.request(), c.is)
		return true
	}
	c.does = s.mutant.decide(c.request(), c.is)
	s.judge(c, c.does)
	if c.does.Wait > 0 {
		if c.waited++; c.waited > 3 {
			s.die(c.own.PID)
		}
		return false
	}
	if c.does.Queue || c.does.Again > 0 {
		s.queue(c, 30)
	}
	return true
}

// deed calls the delegate for a DEL.
func (s *sim) deed(c *call) *guard.DelegateError {
	if c.fault != nil && c.verb == guard.Del {
		return c.fault
	}
	return s.del(c, s.bare || c.does.Forward)
}

// answered tells the runtime.
func (s *sim) answered(c *call) bool {
	b := c.box
	if c.step == c.kill && !s.quiet {
		return true // it did not come to that
	}
	s.say("%s %s: %v", c.verb, b.id, c.err == nil)
	switch {
	case c.verb == guard.Add:
		b.running = false
		b.added, b.failed = b.added || c.err == nil, c.err != nil
	case c.err == nil && b.order <= c.saw: // else it was of an ADD that had not begun
		b.closed = true
		if _, held := s.holds[b.id]; held && !b.running && !s.isOwed(b) {
			s.hurt("%s was released, is kept, and nobody will ask again", b.id)
		}
	}
	return true
}

func (s *sim) isOwed(b *sandbox) bool {
	l, _ := get[guard.QueuedDel](s.b, queueOf(attachment(b.id, "").Key))
	return l != nil
}
