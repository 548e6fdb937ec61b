package plugin

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// A DEL that was decided before the ADD of a new sandbox of the name, and runs on: the new
// one waits, and loses nothing. Where nothing is found by name nobody waits.
func TestAddGivesWayToARunningDel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode  guard.Mode
		keyed string
		kind  string
		loses bool
		waits bool
	}{
		"by name":    {guard.Enforce, "name", "calico", false, true},
		"by both":    {guard.Enforce, "both", "calico", false, true},
		"another's":  {guard.Enforce, "both", "scripted", true, false},
		"in observe": {guard.Observe, "name", "calico", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stored(t, c.keyed).mode(c.mode)
			s.kind = c.kind
			s.call("ADD", "c1-old")
			file, now := s.until()
			s.acts["DEL"] = act{Until: file}
			del := s.command("DEL", "c1-old")
			must(t, del.Start())
			eventually(t, "it runs", func() bool { return len(s.heard()) == 2 })
			add := s.command("ADD", "c2-old")
			must(t, add.Start())
			if c.waits { // it has seen that it must wait
				eventually(t, "it asks for the version", func() bool { return word(filepath.Join(s.bin, c.kind+".asked")) != "" })
				now()
			}
			if err := add.Wait(); err != nil {
				t.Error(err)
			}
			if !c.waits {
				now()
			}
			must(t, del.Wait())
			if _, held := s.has.held()["c2-old"]; held == c.loses {
				t.Errorf("held: %v", s.has.held())
			}
			events, lines := s.events()
			for i, e := range events {
				if waited := strings.Contains(fmt.Sprint(e.Did), "waited for a DEL"); lines[i].What == "ADD" && e.Container == "c2-old" && waited != c.waits {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

// A DEL that does not end holds an ADD no longer than five seconds, one that died not at all.
func TestAddDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	s := stored(t, "name").mode(guard.Enforce)
	s.call("ADD", "c1")
	s.acts["DEL"] = act{Sleep: 60_000}
	del := s.command("DEL", "c1")
	must(t, del.Start())
	eventually(t, "it runs", func() bool { return len(s.heard()) == 2 })
	if got := s.call("ADD", "c2"); got.code != 0 || got.took < 5*time.Second || got.took > 50*time.Second {
		t.Errorf("%+v", got)
	}
	must(t, del.Process.Kill())
	if err := del.Wait(); err == nil {
		t.Error("it was not killed")
	}
	if got := s.call("ADD", "c3"); got.code != 0 || got.took > 50*time.Second {
		t.Errorf("%+v", got)
	}
}

// A late DEL is late also if the runtime does not name the pod.
func TestLateWithoutAName(t *testing.T) {
	t.Parallel()
	s := stored(t, "name").mode(guard.Enforce)
	s.call("ADD", "c1")
	s.call("ADD", "c2")
	if got := s.call("DEL", "c1", "CNI_ARGS="); got.code != 0 || s.verbs() != "ADD ADD" {
		t.Errorf("%+v, asked %s", got, s.verbs())
	}
	if q := s.queued(); len(q) != 1 || q[0].Pod != "web-0" || q[0].Namespace != "ns" {
		t.Errorf("%+v", q)
	}
}
