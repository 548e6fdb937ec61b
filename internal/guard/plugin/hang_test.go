package plugin

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

var hanging = flag.Int("hanging", 6, "random sequences of calls on a plugin that hangs")

// A hung is a sandbox of a sequence on a plugin that hangs.
type hung struct {
	id, pod string
	added   bool // its ADD succeeded
	asked   bool // a DEL of it was asked for
	closed  bool // and succeeded
}

// A hang is a random run of calls in enforce, by processes, on a plugin with a store.
type hang struct {
	*stand
	r   *rand.Rand
	all []*hung
	log []string
}

const hangPatience = 400 * time.Millisecond

// On a plugin that hangs, before or after it has done its work, fails, and whose guard is
// killed: no failure becomes a success, no newer owner is touched, each call is answered in
// time, and in the end nothing is held.
func TestHanging(t *testing.T) {
	t.Parallel()
	for i := range *hanging {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := &hang{stand: stored(t, []string{"name", "both"}[i%2]).mode(guard.Enforce), r: rand.New(rand.NewPCG(3, uint64(i)))}
			for range 10 {
				s.step()
				s.holds()
			}
			s.end()
			if t.Failed() {
				t.Log(strings.Join(s.log, "\n"))
			}
		})
	}
}

// ask makes a call of which it is decided how it goes.
func (s *hang) ask(verb string, b *hung, patience time.Duration, more ...string) said {
	how, a := "well", act{}
	if verb == "ADD" {
		a.Out = okResult
	}
	switch s.r.IntN(8) {
	case 0:
		how, a = "hangs", act{Sleep: 60_000}
	case 1:
		how, a = "hangs after it", act{Sleep: 60_000, Half: true}
	case 2:
		how, a = "fails", act{Out: `{"code":999,"msg":"Unauthorized"}`, Code: 1, Half: s.r.IntN(2) == 0}
	case 3:
		how = "killed"
		more = append(more, "TEST_BREAK="+[]string{"begin", "intended", "answered", "decided", "withheld", "log"}[s.r.IntN(6)]+":kill")
	}
	s.acts = map[string]act{verb: a}
	got := s.call(verb, b.id, append(more, "TEST_PATIENCE="+patience.String(), "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME="+b.pod)...)
	s.log = append(s.log, fmt.Sprintf("%s %s (%s) %s: %d, held %v", verb, b.id, b.pod, how, got.code, s.has.held()))
	if got.code == 0 && (how == "fails" || strings.HasPrefix(how, "hangs")) {
		if events, _ := s.events(); events[len(events)-1].Called {
			s.t.Errorf("%s of %s, which %s, succeeded", verb, b.id, how)
		}
	}
	if got.took > 50*time.Second {
		s.t.Errorf("%s of %s took %s", verb, b.id, got.took)
	}
	return got
}

func (s *hang) step() {
	if len(s.all) == 0 || s.r.IntN(2) == 0 {
		id := fmt.Sprint("c", len(s.all))
		if s.r.IntN(3) == 0 {
			id += "-old"
		}
		b := &hung{id: id, pod: fmt.Sprint("web-", s.r.IntN(2))}
		s.all = append(s.all, b)
		b.added = s.ask("ADD", b, hangPatience).code == 0
		return
	}
	if s.r.IntN(6) == 0 {
		s.acts = nil
		got, _ := s.replay("1h")
		s.log = append(s.log, "replay: "+got.out)
		return
	}
	s.del(s.all[s.r.IntN(len(s.all))], hangPatience)
}

func (s *hang) del(b *hung, patience time.Duration) {
	b.asked = true
	b.closed = s.ask("DEL", b, patience).code == 0
}

// holds sees that whoever has a name, and was added and not deleted, has what it was given.
func (s *hang) holds() {
	newest := map[string]*hung{} // one name has one owner
	for _, b := range s.all {
		newest[b.pod] = b
	}
	for _, b := range newest {
		if _, held := s.has.held()[b.id]; b.added && !b.asked && !held && !s.unknown(b) {
			s.t.Errorf("%s lost what it had", b.id)
		}
	}
}

// unknown tells that an older sandbox of the pod is not on record: its guard was killed
// before it began, and its DEL is handed on.
func (s *hang) unknown(b *hung) bool {
	for _, o := range s.all {
		if o.pod == b.pod && o.asked && s.owner(o.id) == nil {
			return true
		}
	}
	return false
}

// end deletes all until that succeeds, and works off the queue.
func (s *hang) end() {
	for _, b := range s.all {
		for try := 0; !b.closed && try < 20; try++ {
			s.del(b, time.Duration(try+1)*hangPatience) // longer each time, for a machine that is busy
			s.holds()
		}
	}
	s.acts = nil
	for _, ahead := range []string{"2h", "4h", "6h"} {
		_, r := s.replay(ahead)
		s.log = append(s.log, fmt.Sprintf("replay: %+v", r))
	}
	if left := s.has.held(); len(left) > 0 || len(s.queued()) > 0 {
		s.t.Errorf("held in the end: %v, queued %+v", left, s.queued())
	}
}
