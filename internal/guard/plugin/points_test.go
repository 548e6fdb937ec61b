package plugin

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// A point is where a guard is killed, and what the call that follows makes of it.
type point struct {
	verb, at string // REPLAY: of the queue
	before   func(s *stand)
	rule     int    // that the DEL after it follows
	asked    string // of the delegate, by both
	queued   int    // after both
}

func failing(s *stand) { s.acts = map[string]act{"ADD": {Out: failed, Code: 1}} }

// replaced makes c1 an old sandbox of its name, for a delegate that goes by name.
func outdated(s *stand) {
	s.kind = "calico"
	s.version("v1.5.0")
	s.call("ADD", "c1")
	s.call("ADD", "c2")
}

func added(s *stand) { s.call("ADD", "c1") }

func queued(s *stand) {
	added(s)
	must(s.t, s.db().Queue(guard.QueuedDel{Call: guard.Call{Network: "net", Container: "c1", IfName: "eth0"}, Why: "test"}))
}

var points = []point{
	{"ADD", "begin", nil, 6, "DEL", 0},
	{"ADD", "intended", nil, 8, "DEL", 1},
	{"ADD", "answered", nil, 8, "ADD DEL", 1},
	{"ADD", "log", nil, 4, "ADD DEL", 0},
	{"ADD", "cleaning", failing, 4, "ADD DEL", 0},
	{"ADD", "queued", failing, 4, "ADD DEL", 1},
	{"DEL", "begin", added, 4, "ADD DEL", 0},
	{"DEL", "decided", added, 4, "ADD DEL", 0},
	{"DEL", "answered", added, 4, "ADD DEL DEL", 0},
	{"DEL", "log", added, 10, "ADD DEL DEL", 0},
	{"DEL", "withheld", outdated, 5, "ADD ADD", 1},
	{"REPLAY", "replaying", queued, 4, "ADD DEL", 1},
	{"REPLAY", "replayed", queued, 4, "ADD DEL DEL", 1},
	{"REPLAY", "log", queued, 10, "ADD DEL DEL", 0},
}

// Killed at any point, the record lets the DEL that follows do all that it must, and the
// queue is worked off.
func TestKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	for _, p := range points {
		t.Run(p.verb+" "+p.at, func(t *testing.T) {
			t.Parallel()
			s := newStand(t).mode(guard.Enforce)
			if p.before != nil {
				p.before(s)
			}
			cmd := s.command(p.verb, "c1", "TEST_BREAK="+p.at+":kill")
			if p.verb == "REPLAY" {
				cmd = s.command("", "", "TEST_BREAK="+p.at+":kill")
				cmd.Args = append(cmd.Args, "replay")
			}
			if got := s.run(cmd); got.code != -1 {
				t.Fatalf("it was not killed: %+v", got)
			}
			if got := s.call("DEL", "c1"); got.code != 0 || s.verbs() != p.asked {
				t.Errorf("%+v, asked %s", got, s.verbs())
			}
			events, _ := s.events()
			if e := events[len(events)-1]; e.Rule != p.rule || len(s.queued()) != p.queued {
				t.Errorf("%+v, queued %+v", e, s.queued())
			}
			if s.owner("c2") != nil {
				s.call("DEL", "c2")
			}
			if _, r := s.replay("1h"); r.Waiting+r.Left > 0 || len(s.queued()) > 0 {
				t.Errorf("%+v, queued %+v", r, s.queued())
			}
		})
	}
}

// Every point that the program names is in the table.
func TestNoPointIsForgotten(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	must(t, err)
	found := map[string]bool{}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		b, err := os.ReadFile(f)
		must(t, err)
		for _, m := range regexp.MustCompile(`\.reach\("?([^")]*)`).FindAllStringSubmatch(string(b), -1) {
			found[m[1]] = true
		}
	}
	if len(found) < 9 {
		t.Fatalf("only %v were found", found)
	}
	for _, p := range points {
		delete(found, p.at)
	}
	for name := range found {
		t.Errorf("nobody is killed at %q", name)
	}
}
