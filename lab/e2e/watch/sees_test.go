//go:build e2e

package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/load"
)

// soon is how long a verdict may take on a busy machine; anew, if everything had to be
// reread.
const (
	soon = time.Minute
	anew = 2 * time.Minute
)

// TestWatchSees: check --watch reports each fault when it appears and when it
// disappears, each kind separately and all at once, and nothing else; also what happened
// while the API server was frozen or restarted.
func TestWatchSees(t *testing.T) {
	for _, mode := range strings.Split(*modes, ",") {
		t.Run(mode, func(t *testing.T) {
			l := lab.Start(t, lab.Config{ControlPlaneOnly: true, Datastore: lab.Datastore(mode)})
			faults := load.Faults{}
			for _, k := range load.Kinds {
				if k != load.StaleEndpoint || l.Datastore == lab.Etcd {
					faults[k] = 1
				}
			}
			sum, err := load.Run(t.Context(), l, load.Config{Nodes: 100, PodsPerNode: 30, Faults: faults})
			if err != nil {
				t.Fatal(err)
			}
			s := &sight{T: t, l: l, b: openStores(t, l), faults: sum.Faults}
			s.o = start(t, l)
			s.o.begins(t, time.Minute)
			s.o.wait(t, "at first", soon, s.want())
			s.oneByOne()
			s.atOnce()
			s.frozen()
			s.restarted()
			s.o.interrupt(t)
		})
	}
}

// sight is a watch and the faults of its cluster.
type sight struct {
	*testing.T
	l      *lab.Lab
	b      *stores
	o      *ours
	faults []load.Fault
}

// want returns the findings that must exist while some of the faults are removed.
func (s *sight) want(without ...load.Fault) (out []string) {
	for _, f := range s.faults {
		if !slices.Contains(without, f) {
			out = append(out, names(f)...)
		}
	}
	return out
}

func (s *sight) cure(f load.Fault) cure {
	s.Helper()
	c, err := s.b.cure(s.Context(), f)
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *sight) put(ws []write) {
	s.Helper()
	if err := s.b.put(s.Context(), ws); err != nil {
		s.Fatal(err)
	}
}

func (s *sight) kind(k load.Kind) load.Fault {
	return s.faults[slices.IndexFunc(s.faults, func(f load.Fault) bool { return f.Kind == k })]
}

// oneByOne removes each fault and restores it.
func (s *sight) oneByOne() {
	for _, f := range s.faults {
		c := s.cure(f)
		before, begun := len(s.o.heard()), time.Now()
		s.put(c.heal)
		s.o.wait(s.T, string(f.Kind)+" is gone", soon, s.want(f))
		gone := time.Since(begun)
		begun = time.Now()
		s.put(c.hurt)
		s.o.wait(s.T, string(f.Kind)+" is back", soon, s.want())
		told := s.o.heard()[before:]
		s.Logf("%-20s gone after %s, back after %s; %d verdicts", f.Kind, gone.Round(time.Millisecond), time.Since(begun).Round(time.Millisecond), len(told))
		if len(told) > 2*len(names(f)) { // the datastores are written one after the other, and their events arrive so
			s.Logf("among them, temporary: %s", passing(told, names(f)))
		}
	}
}

// passing returns what was reported besides what had to be.
func passing(told []verdict, names []string) string {
	var out []string
	for _, v := range told {
		if v.raised && !slices.Contains(names, v.key) {
			out = append(out, v.key)
		}
	}
	return strings.Join(out, " ")
}

// atOnce removes all faults, and restores them.
func (s *sight) atOnce() {
	var all cure
	for _, f := range s.faults {
		c := s.cure(f)
		all.heal, all.hurt = append(all.heal, c.heal...), append(all.hurt, c.hurt...)
	}
	s.put(all.heal)
	s.o.wait(s.T, "all are gone", soon, nil)
	s.put(all.hurt)
	s.o.wait(s.T, "all are back", soon, s.want())
}

// frozen: what happens while the API server is frozen is reported when it answers again.
func (s *sight) frozen() {
	f := s.kind(load.Unallocated)
	c := s.cure(f)
	if err := s.l.FreezeAPIServer(s.Context()); err != nil {
		s.Fatal(err)
	}
	ofAPI := func(w write) bool { return s.b.of(w.key) == s.b.kubernetes } // Calico's own etcd still answers
	s.put(slices.DeleteFunc(slices.Clone(c.heal), func(w write) bool { return !ofAPI(w) }))
	time.Sleep(3 * time.Second)
	s.o.wait(s.T, "while it is frozen", soon, s.want())
	if err := s.l.ThawAPIServer(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.put(slices.DeleteFunc(c.heal, ofAPI))
	s.o.wait(s.T, "when it answers again", soon, s.want(f))
	s.put(c.hurt)
	s.o.wait(s.T, "and after that", soon, s.want())
}

// restarted: a new API server has no events from before its start.
func (s *sight) restarted() {
	f := s.kind(load.Unallocated)
	c := s.cure(f)
	done := make(chan error, 1)
	go func() { done <- s.l.RestartAPIServer(s.Context()) }()
	time.Sleep(time.Second)
	s.put(c.heal)
	if err := <-done; err != nil {
		s.Fatal(err)
	}
	s.o.wait(s.T, "after a restart", anew, s.want(f))
	s.put(c.hurt)
	s.o.wait(s.T, "and after that", soon, s.want())
}
