package ownerdb

import (
	"fmt"
	"math/rand/v2"

	"plumbline.dev/plumbline/internal/guard"
)

// sim is a node in small: a runtime that calls ADD and DEL in any order, several at once,
// guards that may be killed at any instruction, and a delegate of which all is known.
type sim struct {
	r, kills *rand.Rand
	m        *model
	b        *DB
	bare     bool // without a guard
	mode     guard.Mode
	keyed    guard.Keying
	mutant   mutant

	holds   map[string]holding // what the delegate holds, by container
	boxes   []*sandbox
	calls   []*call
	zombies []zombie // delegates that outlived their guard
	order   int      // of ADDs, as they really were
	turn    int64
	quiet   bool // the end: nothing breaks any more

	told   []string // what the runtime and the delegate saw
	harm   []string
	window int // owners lost to a DEL that was decided before they began
	late   int
}

// A holding is what an ADD made. A legacy one is found by the name, as Calico 2's.
type holding struct {
	pod    string
	legacy bool
}

// A sandbox is what is true of it.
type sandbox struct {
	id, pod  string
	order    int
	recorded bool // its ADD is on record
	running  bool // its ADD is under way
	added    bool // an ADD of it has succeeded
	failed   bool // its last ADD has not
	asked    bool // the runtime has asked for its DEL
	closed   bool // and was told that it succeeded
	gone     bool // its namespace is
}

// A zombie is an ADD that takes effect after its guard's death.
type zombie struct {
	box *sandbox
	at  int64
}

func newSim(seed uint64, keyed guard.Keying, mode guard.Mode, m mutant) *sim {
	s := &sim{r: rand.New(rand.NewPCG(seed, 1)), kills: rand.New(rand.NewPCG(seed, 2)), m: newModel(), keyed: keyed, mode: mode, mutant: m, holds: map[string]holding{}}
	s.b = &DB{s.m, "boot"}
	for _, pod := range []string{"web", "db"} { // from before the guard
		b := &sandbox{id: "old-" + pod, pod: pod, added: true}
		s.boxes = append(s.boxes, b)
		s.holds[b.id] = holding{pod: pod}
	}
	return s
}

func (s *sim) say(format string, args ...any) { s.told = append(s.told, fmt.Sprintf(format, args...)) }

func (s *sim) hurt(format string, args ...any) {
	if s.mode == guard.Enforce {
		s.harm = append(s.harm, fmt.Sprintf("turn %d: ", s.turn)+fmt.Sprintf(format, args...))
	}
}

// add is the delegate's ADD.
func (s *sim) add(b *sandbox) {
	s.holds[b.id] = holding{b.pod, s.keyed == guard.ByBoth && b.order%3 == 0}
	s.say("added %s", b.id)
}

var errNoEndpoint = &guard.DelegateError{Code: 999, Msg: "resource does not exist: WorkloadEndpoint(workload=ns.web)"}

// del is the delegate's DEL. It finds by what it is said to find by.
func (s *sim) del(c *call, named bool) *guard.DelegateError {
	found := false
	for _, y := range s.boxes {
		h, held := s.holds[y.id]
		mine := y.id == c.box.id && !h.legacy && s.keyed != guard.ByName
		byName := h.pod == c.box.pod && (s.keyed == guard.ByName || h.legacy) && named
		if !held || !mine && !byName {
			continue
		}
		found = true
		delete(s.holds, y.id)
		s.say("released %s by the DEL of %s", y.id, c.box.id)
		s.robbed(c, y)
	}
	if s.keyed == guard.ByName && !found {
		return errNoEndpoint // as in 2017: without an end
	}
	return nil
}

// robbed judges what a DEL took from another.
func (s *sim) robbed(c *call, y *sandbox) {
	x := c.box
	switch {
	case y == x || y.asked || y.failed || !y.recorded || y.order < x.order:
	case !c.knew: // of an unknown container it cannot be said whose turn it is
	case y.order > c.saw:
		s.window++
	default:
		s.hurt("the newer owner %s was touched by the DEL of %s", y.id, x.id)
	}
}

// judge holds a decision against the truth.
func (s *sim) judge(c *call, d guard.Decision) {
	x, newer, alive := c.box, false, false
	for _, y := range s.boxes {
		if y.pod == x.pod && y.order > x.order && y.recorded && !y.closed {
			newer = true
			alive = alive || y.added && !y.asked && !y.failed && !y.running
		}
	}
	if d.Late {
		s.late++
	}
	switch {
	case d.Late && (!x.recorded || !newer):
		s.hurt("%s is called late, and is not", x.id)
	case !d.Late && x.recorded && alive:
		s.hurt("%s is not seen as late", x.id)
	case d.Rule == 6 && x.recorded:
		s.hurt("%s is on record and not known", x.id)
	}
}
