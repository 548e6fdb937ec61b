package ownerdb

import (
	"fmt"
	"slices"

	"plumbline.dev/plumbline/internal/guard"
)

// play makes things happen for a while, and then ends all and looks what is left.
func (s *sim) play() {
	for range 60 {
		s.turn++
		s.haunt()
		switch {
		case len(s.calls) < 4 && s.r.IntN(3) == 0:
			s.start()
		case len(s.calls) > 0:
			s.go1(s.calls[s.r.IntN(len(s.calls))])
		}
		if !s.bare && s.mode == guard.Enforce && s.kills.IntN(12) == 0 {
			s.agent()
		}
	}
	if s.mode == guard.Enforce {
		s.finish()
	}
}

// start is the runtime: it asks for anything at any time.
func (s *sim) start() {
	c := &call{verb: guard.Del, number: len(s.told)*100 + int(s.turn) + 1}
	pick := s.r.IntN(100)
	c.box = s.boxes[s.r.IntN(len(s.boxes))]
	switch {
	case pick < 40:
		c.verb = guard.Add
		c.box = &sandbox{id: fmt.Sprintf("c%d", len(s.boxes)), pod: []string{"web", "db"}[s.r.IntN(2)]}
		s.boxes = append(s.boxes, c.box)
	case pick < 44 && s.again(c.box):
		c.verb = guard.Add // against the protocol
	default:
		c.box.asked = true
		c.box.gone = c.box.gone || s.r.IntN(2) == 0
	}
	words := []string{"", "", "", "", "", "", "Unauthorized", "error getting ClusterInformation: connection refused", "something else"}
	if w := words[s.r.IntN(len(words))]; w != "" {
		c.fault, c.half = &guard.DelegateError{Code: 999, Msg: w}, s.r.IntN(2) == 0
	}
	if s.r.IntN(6) == 0 {
		c.kill = 1 + s.r.IntN(3)
	}
	s.calls = append(s.calls, c)
}

// again tells whether a runtime could ask for a second ADD: not of one whose first may
// still be under way.
func (s *sim) again(b *sandbox) bool {
	return b.order > 0 && !b.asked && !b.running && !slices.ContainsFunc(s.zombies, func(z zombie) bool { return z.box == b }) &&
		!slices.ContainsFunc(s.calls, func(o *call) bool { return o.box == b })
}

// go1 lets a call do one step; if it is to be killed, at any operation of it.
func (s *sim) go1(c *call) {
	if c.step++; c.step == c.kill && !s.quiet {
		at := s.m.ops + 1 + s.kills.IntN(60)
		late := s.r.IntN(2) == 0
		if c.step != 2 { // the delegate itself does its work or does not
			s.m.kill = at
			_ = alive(func() { s.doStep(c) })
		} else if late {
			s.doStep(c)
		}
		s.m = s.m.after(s.kills.IntN(4))
		s.b = &DB{s.m, "boot"}
		s.die(c.number)
		return
	}
	if s.doStep(c) {
		s.calls = slices.DeleteFunc(s.calls, func(o *call) bool { return o == c })
	}
}

func (s *sim) doStep(c *call) bool {
	if c.verb == guard.Add {
		return s.addStep(c)
	}
	return s.delStep(c)
}

// die ends a call without an answer. Its delegate may come to an end after all.
func (s *sim) die(number int) {
	for _, c := range s.calls {
		if c.number != number {
			continue
		}
		s.say("%s %s: killed", c.verb, c.box.id)
		if c.verb == guard.Add {
			o, _ := s.b.Owner(attachment(c.box.id, "").Key)
			c.box.recorded, c.box.running, c.box.failed = o != nil, false, true
			if o != nil && o.PID != c.number { // it did not even begin
				c.box.order, c.box.failed = c.before.order, c.before.failed
			}
			if s.mode == guard.Enforce && c.step < 3 && s.kills.IntN(3) == 0 && o != nil && o.PID == c.number {
				s.zombies = append(s.zombies, zombie{c.box, s.turn + 15})
			}
		}
	}
	s.calls = slices.DeleteFunc(s.calls, func(o *call) bool { return o.number == number })
}

// haunt lets delegates that outlived their guard come to their end.
func (s *sim) haunt() {
	for _, z := range s.zombies {
		if z.at <= s.turn {
			s.add(z.box)
		}
	}
	s.zombies = slices.DeleteFunc(s.zombies, func(z zombie) bool { return z.at <= s.turn })
}

// agent takes from the queue what is due.
func (s *sim) agent() {
	queued, _ := s.b.Queued()
	for _, l := range queued {
		i := slices.IndexFunc(s.boxes, func(b *sandbox) bool { return b.id == l.Container })
		if l.At > s.turn || i < 0 || !s.quiet && s.kills.IntN(2) == 0 {
			continue
		}
		s.calls = append(s.calls, &call{verb: guard.Del, queued: true, box: s.boxes[i], number: -int(s.turn)})
	}
}

// finish ends all: every call comes to its end, the runtime deletes what it has, the
// queue is worked off and what nobody knows of is collected. Nothing may be left.
func (s *sim) finish() {
	s.quiet = true
	s.drain()
	for _, b := range s.boxes {
		first := !b.asked
		b.asked, b.gone = true, true
		for try := 0; !b.closed && try < 20 && (b.added || first && try == 0); try++ {
			s.calls = append(s.calls, &call{verb: guard.Del, box: b, number: -1})
			s.drain()
		}
	}
	for i := range 8 {
		s.turn += 25
		s.haunt()
		s.agent()
		if i == 3 {
			s.collect()
		}
		s.drain()
	}
	for _, b := range s.boxes {
		if _, held := s.holds[b.id]; held {
			s.hurt("%s is kept at the end", b.id)
		}
	}
	if left, err := s.b.Queued(); err != nil || len(left) > 0 {
		s.hurt("the queue is not empty: %v, %v", left, err)
	}
}

func (s *sim) drain() {
	for len(s.calls) > 0 {
		c := s.calls[0]
		c.fault = nil
		s.go1(c)
	}
}

// collect is the agent's GC, on a node with fifty other pods.
func (s *sim) collect() {
	all, _ := s.b.All()
	a := guard.InUse{}
	for i := range all {
		a.Recorded = append(a.Recorded, guard.RecordedOwner{Owner: all[i], Gone: true})
	}
	for i := range 100 {
		o := attachment(fmt.Sprintf("other-%d", i), "other")
		o.State = guard.Added
		a.Sandboxes = append(a.Sandboxes, o.Container)
		a.Recorded = append(a.Recorded, guard.RecordedOwner{Owner: o})
	}
	keys, refused := guard.Collectable(a)
	if refused != "" {
		s.hurt("not collected: %s", refused)
	}
	for _, k := range keys { // nothing is deleted but by the queue: what is late must wait for others
		for _, b := range s.boxes {
			if b.id == k.Container {
				s.queue(&call{box: b}, 0)
			}
		}
	}
}
