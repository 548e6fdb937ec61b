package ownerdb

import (
	"errors"
	"math/rand/v2"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

func attachment(container, pod string) guard.Owner {
	return guard.Owner{Key: guard.Key{Network: "net", Container: container, IfName: "eth0"}, Namespace: "ns", Pod: pod}
}

// A deed is one call on the DB, and what it must have left if it returned.
type deed struct {
	name string
	do   func(p *player)
}

// player does deeds on DBs over one directory after the other, and remembers what was
// promised: what returned before the kill.
type player struct {
	t    *testing.T
	b    *DB
	top  uint64                 // highest number that was given
	has  map[string]guard.Owner // by container: what the last deed that returned left
	open string                 // the container of the deed that is under way
}

func begins(container, pod string) deed {
	return deed{"begin " + container, func(p *player) {
		p.open = container
		o, err := p.b.Begin(attachment(container, pod))
		if err == nil {
			if o.Seq <= p.top {
				p.t.Errorf("%d was given after %d", o.Seq, p.top)
			}
			p.top, p.has[container] = o.Seq, o
		} else {
			p.unknown(container, err)
		}
	}}
}

// unknown holds a deed that could not be recorded against the record: it is as if nothing
// had ever been known.
func (p *player) unknown(container string, why error) {
	delete(p.has, container)
	if o, _ := p.b.Owner(attachment(container, "").Key); o != nil {
		p.t.Errorf("%s is still on record as %+v after: %v", container, o, why)
	}
}

func ends(container string, s guard.State) deed {
	return deed{"end " + container, func(p *player) {
		p.open = container
		o, ok := p.has[container]
		if !ok {
			return
		}
		was := o
		o.State = s
		switch err := p.b.End(o); {
		case err == nil:
			p.has[container] = o
		case s == guard.Deleted && !errors.Is(err, errReplaced):
			p.unknown(container, err)
		default:
			p.has[container] = was
		}
	}}
}

func queues(container, pod string) deed {
	return deed{"queue " + container, func(p *player) {
		p.open = container
		_ = p.b.Queue(guard.QueuedDel{Call: guard.Call{Verb: guard.Del, Network: "net", Container: container, IfName: "eth0", Namespace: "ns", Pod: pod}})
	}}
}

func forgets(keep int) deed {
	return deed{"forget", func(p *player) {
		for c, o := range p.has {
			if o.State == guard.Deleted {
				delete(p.has, c) // it may be gone, and that is right
			}
		}
		_ = p.b.Forget(keep)
	}}
}

// keeps holds the record against what was promised. Of the deed that was killed the old
// or the new may be there; its truth is then what is there.
func (p *player) keeps() {
	p.t.Helper()
	sane(p.t, p.b)
	for c, want := range p.has {
		got, err := p.b.Owner(want.Key)
		switch {
		case err != nil:
			p.t.Errorf("%s: %v", c, err)
		case got == nil && c != p.open:
			p.t.Errorf("%s is forgotten", c)
		case c == p.open:
			if got == nil || got.Seq < want.Seq {
				p.t.Errorf("%s went from %v back to %v", c, want, got)
			} else {
				p.has[c] = *got
			}
		case got.Seq != want.Seq || got.State != want.State:
			p.t.Errorf("%s is %v, was promised as %v", c, got, want)
		}
	}
	if o, _ := p.b.Owner(attachment(p.open, "").Key); o != nil {
		p.has[p.open] = *o
		p.top = max(p.top, o.Seq)
	}
}

var scripts = map[string][]deed{
	"replaced": {
		begins("a", "web"), ends("a", guard.Added), begins("b", "web"), ends("b", guard.Added), begins("x", "other"),
		ends("a", guard.Deleted), ends("b", guard.Deleted), forgets(0), begins("c", "web"),
	},
	"again":   {begins("a", "web"), ends("a", guard.Added), begins("b", "web"), begins("a", "web"), ends("a", guard.Failed), ends("b", guard.Added), forgets(9)},
	"failing": {begins("a", "web"), queues("a", "web"), ends("a", guard.Failed), begins("b", "web"), ends("a", guard.Deleted), forgets(0), ends("b", guard.Added)},
	"many": {
		begins("a", "web"), begins("b", "web"), begins("c", "web"), begins("d", "web"), ends("b", guard.Deleted), begins("e", "web"), begins("f", "web"),
		ends("a", guard.Deleted), begins("g", "web"), begins("no name", ""), ends("no name", guard.Added),
	},
	"moved": {begins("a", "web"), ends("a", guard.Added), begins("a", "other"), begins("b", "web"), ends("a", guard.Deleted)},
}

// TestEveryKill kills the process before every operation of every script, forgets every
// subset of what was not yet renamed, looks, and goes on with the deed that was killed.
func TestEveryKill(t *testing.T) {
	t.Parallel()
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			points, worlds := 0, 0
			for kill := 1; ; kill++ {
				m := newModel()
				m.kill = kill
				p := &player{t: t, b: &DB{m, "boot"}, has: map[string]guard.Owner{}}
				at := 0
				if alive(func() {
					for ; at < len(script); at++ {
						script[at].do(p)
					}
				}) {
					break
				}
				points++
				for forget := range 1 << len(m.loose) {
					worlds++
					q := &player{t: t, b: &DB{m.after(forget), "boot"}, top: p.top, has: map[string]guard.Owner{}, open: p.open}
					for c, o := range p.has {
						q.has[c] = o
					}
					q.keeps()
					for _, d := range script[at:] {
						d.do(q)
						q.open = ""
						q.keeps()
					}
					if t.Failed() {
						t.Fatalf("killed at operation %d, in %q, forgetting %b", kill, script[at].name, forget)
					}
				}
			}
			t.Logf("%d points, %d worlds", points, worlds)
		})
	}
}

// TestFull fills the disk at every operation. What cannot be written is unknown, and
// nobody is late because of it.
func TestFull(t *testing.T) {
	t.Parallel()
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			for full, last := 1, false; !last; full++ {
				m := newModel()
				m.full = full
				p := &player{t: t, b: &DB{m, "boot"}, has: map[string]guard.Owner{}}
				for _, d := range script {
					d.do(p)
					n := m.ops
					p.open = ""
					p.keeps()
					m.ops = n // looking does not fill it
				}
				last = m.ops < full
				if t.Failed() {
					t.Fatalf("full at operation %d", full)
				}
			}
		})
	}
}

// TestManyKills plays random deeds and kills again and again, also what follows a kill.
func TestManyKills(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := newModel()
		p := &player{t: t, b: &DB{m, "boot"}, has: map[string]guard.Owner{}}
		for range 20 {
			c, pod := string(rune('a'+r.IntN(6))), "web"
			states := []guard.State{guard.Added, guard.Failed, guard.Deleted}
			d := []deed{begins(c, pod), begins(c, pod), ends(c, states[r.IntN(3)]), ends(c, states[r.IntN(3)]), queues(c, pod), forgets(r.IntN(4))}[r.IntN(6)]
			if r.IntN(2) == 0 {
				m.kill = m.ops + 1 + r.IntN(40)
			}
			if alive(func() { d.do(p) }) {
				p.open = ""
			}
			m = m.after(r.IntN(4))
			p.b = &DB{m, "boot"}
			if p.keeps(); t.Failed() {
				t.Fatalf("seed %d, after %s", seed, d.name)
			}
		}
	}
}
