package executetest

import "time"

// A step does one thing, at most one call to a store, and gives the next; nil is the end.
// Whatever can happen between two calls can so happen here.
type step func(w *world, t *task) step

// A task is a sequence of steps of one component.
type task struct {
	name string
	on   *node // whose machine it runs on; nil for the control plane
	next step
	wake int64 // not before
}

func (w *world) spawn(name string, on *node, first step) *task {
	t := &task{name: name, on: on, next: first, wake: w.now}
	w.tasks = append(w.tasks, t)
	return t
}

// rests lets a task wait before its next step.
func (w *world) rests(t *task, low, high time.Duration) { t.wake = w.now + w.between(low, high) }

// stuck tells that the machine of a task does not run or cannot reach anybody.
func (t *task) stuck() bool { return t.on != nil && t.on.cut }

// tick lets time pass and somebody do one step.
func (w *world) tick() {
	w.now += w.rng.Int64N(400)
	if w.rate > 0 && w.one(w.rate) {
		w.churn()
	}
	if w.full && w.rate > 0 && w.own.IntN(2*w.rate) == 0 {
		w.churnNode()
	}
	n := 0
	for _, t := range w.tasks {
		if t.wake <= w.now && !t.stuck() {
			n++
		}
	}
	if n == 0 {
		return
	}
	k := w.pick(n)
	for _, t := range w.tasks {
		if t.wake <= w.now && !t.stuck() {
			if k == 0 {
				w.does(t)
				return
			}
			k--
		}
	}
}

func (w *world) does(t *task) {
	if t.next = t.next(w, t); t.next != nil {
		return
	}
	for i, other := range w.tasks {
		if other == t {
			w.tasks = append(w.tasks[:i], w.tasks[i+1:]...)
			return
		}
	}
}

// ticks lets so many steps be done.
func (w *world) ticks(n int) {
	for range n {
		w.tick()
	}
}

// passes lets time go by, with what is done meanwhile; in long times only some of it.
func (w *world) passes(d time.Duration) {
	until := w.now + d.Milliseconds()
	for range min(30, 1+d.Milliseconds()/200) {
		if w.tick(); w.now >= until {
			return
		}
	}
	w.now = until
}

// drain lets everybody finish what he can finish without waiting long.
func (w *world) drain() {
	for range 4000 {
		if !w.hurries() {
			return
		}
		w.tick()
	}
}

// hurries tells that somebody has something to do now; if only later, time jumps there.
func (w *world) hurries() bool {
	first := never
	for _, t := range w.tasks {
		if t.stuck() || t == w.collector.task {
			continue
		}
		first = min(first, t.wake)
	}
	if first == never {
		return false
	}
	w.now = max(w.now, first)
	return true
}
