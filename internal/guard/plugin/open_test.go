package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// Whatever breaks in the guard, the delegate is called once and its answer is the answer.
func TestPanicFailsOpen(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"begin", "intended", "answered", "decided", "log", "cleaning", "queued"} {
		for _, verb := range []string{"ADD", "DEL"} {
			t.Run(point+" "+verb, func(t *testing.T) {
				t.Parallel()
				s := newStand(t).mode(guard.Enforce)
				a := act{Out: okResult, Err: "e", Code: 0}
				if point == "cleaning" || point == "queued" {
					a = act{Out: failed, Err: "e", Code: 1}
				}
				s.acts = map[string]act{verb: a}
				got := s.call(verb, "c1", "TEST_BREAK="+point)
				if got.out != a.Out || got.err != "e" || got.code != a.Code || !strings.HasPrefix(s.verbs(), verb) || strings.Count(s.verbs(), verb) != 1 {
					t.Errorf("%+v, asked %s", got, s.verbs())
				}
			})
		}
	}
	s := newStand(t)
	s.call("ADD", "c1", "TEST_BREAK=intended")
	if events, _ := s.events(); len(events) != 1 || len(events[0].Trouble) == 0 || !strings.Contains(strings.Join(events[0].Trouble, " "), "as the test asked") {
		t.Errorf("%+v", events)
	}
}

// A record that cannot be had does not stop a call, nor is it created for one who is guard.Off.
func TestWithoutARecord(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(s *stand){
		"a file in its place": func(s *stand) { must(t, os.WriteFile(s.dir, nil, 0o600)) },
		"garbage in it": func(s *stand) {
			s.call("ADD", "c0")
			files, err := filepath.Glob(filepath.Join(s.dir, guard.OwnersDir, "*"))
			must(t, err)
			for _, f := range files {
				must(t, os.WriteFile(f, []byte("{]"), 0o600))
			}
		},
		"a mode that is a directory": func(s *stand) { must(t, os.MkdirAll(filepath.Join(s.dir, guard.ModeFile), 0o755)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			spoil(s)
			for _, verb := range []string{"ADD", "DEL", "DEL"} {
				s.acts = map[string]act{verb: {Out: okResult}}
				if got := s.call(verb, "c1"); got.out != okResult || got.code != 0 {
					t.Errorf("%+v", got)
				}
			}
		})
	}
	for name, remove := range map[string]func(s *stand){
		"by mode":        func(s *stand) { s.mode(guard.Off) },
		"by environment": func(s *stand) { s.env = []string{"PLUMBLINE_GUARD=off"} },
		"by marker":      func(s *stand) { must(t, os.WriteFile(filepath.Join(s.bin, ourType+guard.Marker), nil, 0o600)) },
	} {
		t.Run("removed "+name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			remove(s)
			if got := s.call("ADD", "c1"); got.out != okResult || got.code != 0 {
				t.Errorf("%+v", got)
			}
			if files, _ := filepath.Glob(filepath.Join(s.dir, "*", "*")); len(files) > 0 {
				t.Errorf("it wrote %v", files)
			}
		})
	}
}

// The ADD's whole tree is killed in the middle, and the DEL sees that nobody runs it.
func TestAddKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	s.acts = map[string]act{"ADD": {Sleep: 60_000}}
	add := s.command("ADD", "c1")
	must(t, add.Start())
	eventually(t, "it runs", func() bool { return len(s.heard()) == 1 })
	must(t, syscall.Kill(add.Process.Pid, syscall.SIGKILL))
	_ = add.Wait()
	if got := s.call("DEL", "c1"); got.code != 0 || s.verbs() != "ADD DEL" || len(s.queued()) != 1 {
		t.Errorf("%+v, asked %s, queued %+v", got, s.verbs(), s.queued())
	}
}

// Eight calls at once: all are answered by their own, and all are on record.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.acts = map[string]act{"ADD": {Out: okResult, Sleep: 50}}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if got := s.call("ADD", fmt.Sprint("c", i)); got.out != okResult || got.code != 0 {
				t.Errorf("%+v", got)
			}
		})
	}
	wg.Wait()
	events, _ := s.events()
	if len(events) != 8 {
		t.Errorf("%d events", len(events))
	}
	for _, e := range events {
		if strings.Contains(strings.Join(e.Trouble, " "), "record the ") {
			t.Errorf("%s was not recorded: %v", e.Container, e.Trouble)
		}
	}
	seen := map[uint64]bool{}
	for i := range 8 {
		id := fmt.Sprint("c", i)
		o := s.owner(id)
		if o == nil || o.State != guard.Added || seen[o.Seq] {
			t.Fatalf("%s: %+v", id, o)
		}
		seen[o.Seq] = true
	}
}
