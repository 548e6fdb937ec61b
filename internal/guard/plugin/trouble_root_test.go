package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/guard"
)

// A trouble is one of the node's, and what is answered with it, in enforce, by a guard of a
// delegate that goes by name, when the name of c1 has gone to c2.
type trouble struct {
	spoil func(s *stand)
	env   []string
	late  int // exit of the late DEL of c1: 1 is to come again
	asked string
	add   int // exit of an ADD of c3
	del   int // exit of the DEL of c2
}

// answers sees what is answered with a trouble, and that it is answered in time.
func (c trouble) answers(t *testing.T, s *stand) {
	t.Helper()
	s.mode(guard.Enforce)
	s.call("ADD", "c1")
	s.call("ADD", "c2")
	before := len(s.heard())
	c.spoil(s)
	for _, call := range []struct {
		verb, id string
		want     int
	}{{"DEL", "c1", c.late}, {"DEL", "c2", c.del}, {"ADD", "c3", c.add}} {
		got := s.call(call.verb, call.id, append([]string{"TEST_PATIENCE=8s"}, c.env...)...)
		if got.code != call.want || got.took > 50*time.Second {
			t.Errorf("%s %s: %+v, want %d", call.verb, call.id, got, call.want)
		}
		if call.want != 0 && (!strings.Contains(got.out, `"code":11`) || !strings.Contains(got.out, "plumbline-cni")) {
			t.Errorf("%s %s: no error of ours: %s", call.verb, call.id, got.out)
		}
		if call.want == 0 && call.verb == "ADD" && got.out != okResult {
			t.Errorf("%s %s: %s", call.verb, call.id, got.out)
		}
	}
	asked := ""
	for _, h := range s.heard()[before:] {
		asked += " " + lookup(h.Env, "CNI_COMMAND") + lookup(h.Env, "CNI_CONTAINERID")
	}
	if strings.TrimSpace(asked) != c.asked {
		t.Errorf("asked %q, want %q", asked, c.asked)
	}
}

// Nothing that is wrong with a node makes a success of a failure, or hits the newer owner;
// a pod starts all the same.
func TestTroubles(t *testing.T) {
	t.Parallel()
	records := func(s *stand, kind string) []string {
		files, err := filepath.Glob(filepath.Join(s.dir, guard.OwnersDir, kind))
		must(t, err)
		return files
	}
	for name, c := range map[string]trouble{
		"none": {spoil: func(*stand) {}, asked: "DELc2 ADDc3"},
		"the clock is set back a year": {
			spoil: func(*stand) {}, env: []string{"TEST_CLOCK=-8760h"}, asked: "DELc2 ADDc3",
		},
		"a corrupt record": {spoil: func(s *stand) {
			for _, f := range records(s, "[on]*") { // who cannot be known is not late
				must(t, os.WriteFile(f, []byte("00000000 {}"), 0o600))
			}
		}, asked: "DELc1 DELc2 ADDc3"},
		"a record cut off": {spoil: func(s *stand) {
			for _, f := range records(s, "*") {
				must(t, os.Truncate(f, 7))
			}
		}, asked: "DELc1 DELc2 ADDc3"},
		"no delegate": {spoil: func(s *stand) {
			must(t, os.Remove(filepath.Join(s.bin, "calico")))
		}, late: 1, add: 1, del: 1},
		"a delegate that hangs": {spoil: func(s *stand) {
			s.acts = map[string]act{"ADD": {Sleep: 60_000}, "DEL": {Sleep: 60_000}}
		}, late: 0, add: 1, del: 1, asked: "DELc2 ADDc3 DELc3"},
		"a lock that is held": {spoil: func(s *stand) {
			for _, f := range records(s, "lock-*") {
				hold(t, f)
			}
		}, late: 1, asked: "DELc2 ADDc3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stored(t, "name")
			s.has = nil
			c.answers(t, s)
		})
	}
}

// hold keeps a lock as long as the test lasts.
func hold(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	must(t, err)
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	t.Cleanup(func() { _ = f.Close() })
}

// The same with disks that are full or cannot be written.
func TestRootDisks(t *testing.T) {
	if !alone(t) {
		return
	}
	for name, c := range map[string]trouble{
		"full": {spoil: func(s *stand) {
			if err := os.WriteFile(filepath.Join(s.dir, "other"), make([]byte, 1<<20), 0o600); err == nil {
				t.Error("it is not full")
			}
		}},
		"read-only": {spoil: func(s *stand) {
			must(t, unix.Mount("", s.dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stored(t, "name")
			s.has = nil
			must(t, os.MkdirAll(s.dir, 0o755))
			must(t, unix.Mount("tmpfs", s.dir, "tmpfs", 0, "size=64k,mode=0755"))
			defer func() { must(t, unix.Unmount(s.dir, unix.MNT_DETACH)) }()
			c.late, c.asked = 1, "DELc2 ADDc3" // it cannot be queued: it must come again
			c.answers(t, s)
		})
	}
}

// A configuration that is only half written names no plugin that could be asked.
func TestHalfAConfiguration(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	whole := s.entry()
	for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
		for _, verb := range []string{"ADD", "DEL", "CHECK"} {
			cmd := s.command(verb, "c1")
			cmd.Stdin = strings.NewReader(string(whole[:n]))
			got := s.run(cmd)
			if got.code != 1 || !strings.Contains(got.out, `"code":7`) || got.took > time.Minute {
				t.Errorf("%d bytes, %s: %+v", n, verb, got)
			}
		}
	}
	if len(s.heard()) > 0 {
		t.Errorf("asked %s", s.verbs())
	}
}
