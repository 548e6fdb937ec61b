package plugin

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

func sandboxRuns(pid int) bool {
	p, err := readStat("/proc", pid)
	return err == nil && p.State != 'Z'
}

// On the deadline all that the delegate started is ended, and the answer is an error.
func TestDeadlineEndsTheGroup(t *testing.T) {
	t.Parallel()
	for _, verb := range []string{"ADD", "DEL", "CHECK", "STATUS"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			s := newStand(t).mode(guard.Enforce)
			s.acts = map[string]act{verb: {Sleep: 60_000, Child: true, Out: okResult}}
			got := s.call(verb, "c1", "TEST_PATIENCE=8s")
			var e struct{ Code int }
			if err := json.Unmarshal([]byte(got.out), &e); err != nil || e.Code != tryAgainLater || got.code != 1 {
				t.Errorf("%+v: %v", got, err)
			}
			if got.took > time.Minute || got.took < 8*time.Second {
				t.Errorf("it took %s", got.took)
			}
			all := s.heard()
			if len(all) == 0 {
				t.Fatal("it was not started")
			}
			h := all[0]
			eventually(t, "both are ended", func() bool { return !sandboxRuns(h.PID) && !sandboxRuns(h.Child) })
			if o := s.owner("c1"); verb == "ADD" && (o == nil || o.State != guard.Failed) {
				t.Errorf("%+v", o)
			}
		})
	}
}

// In off and observe the guard ends no plugin, however long it takes.
func TestNoDeadlineUnlessEnforced(t *testing.T) {
	t.Parallel()
	for _, mode := range []guard.Mode{guard.Off, guard.Observe} {
		for _, verb := range []string{"ADD", "DEL", "CHECK", "STATUS"} {
			t.Run(string(mode)+"/"+verb, func(t *testing.T) {
				t.Parallel()
				s := newStand(t).mode(mode)
				s.acts = map[string]act{verb: {Sleep: 3_000, Out: okResult}}
				if got := s.call(verb, "c1", "TEST_PATIENCE=1s"); got.code != 0 || got.out != okResult || got.took < 3*time.Second {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// Whoever a delegate leaves behind holds neither the answer nor the runtime.
func TestGrandchildHoldsNobody(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	long := strings.Repeat("y", 60<<10) // all of it is in the pipe when the delegate ends
	s.acts = map[string]act{"ADD": {Out: long, Err: "e", Child: true}}
	got := s.call("ADD", "c1")
	child := s.heard()[0].Child
	defer func() { _ = syscall.Kill(child, syscall.SIGKILL) }()
	if got.out != long || got.err != "e" || got.code != 0 {
		t.Errorf("%d bytes, %q, %d", len(got.out), got.err, got.code)
	}
	if got.took > 50*time.Second { // the child runs for a minute
		t.Errorf("it took %s", got.took)
	}
	if !sandboxRuns(child) {
		t.Error("it was ended, though nobody's time was over")
	}
}

// If the guard is killed, so is what it runs.
func TestDelegateDiesWithTheGuard(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.acts = map[string]act{"ADD": {Sleep: 60_000}}
	cmd := s.command("ADD", "c1")
	must(t, cmd.Start())
	eventually(t, "it runs", func() bool { return len(s.heard()) == 1 })
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	pid := s.heard()[0].PID
	eventually(t, "it is ended", func() bool { return !sandboxRuns(pid) })
}

// A program that is being replaced is waited for, but not for long.
func TestReplacedProgram(t *testing.T) {
	t.Parallel()
	put := func(s *stand, mode os.FileMode) (file string, open *os.File) {
		file = filepath.Join(s.bin, "scripted")
		self, err := os.Open("/proc/self/exe")
		must(t, err)
		defer self.Close()
		must(t, os.Remove(file))
		out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, mode)
		must(t, err)
		_, err = io.Copy(out, self)
		must(t, err)
		return file, out
	}
	for name, replace := range map[string]func(s *stand){
		"being written": func(s *stand) { // text file busy
			_, f := put(s, 0o755)
			time.AfterFunc(500*time.Millisecond, func() { _ = f.Close() })
		},
		"without its mode": func(s *stand) {
			file, f := put(s, 0o600)
			must(t, f.Close())
			time.AfterFunc(500*time.Millisecond, func() { _ = os.Chmod(file, 0o755) })
		},
		"missing": func(s *stand) {
			file := filepath.Join(s.bin, "scripted")
			must(t, os.Rename(file, file+".old"))
			time.AfterFunc(500*time.Millisecond, func() { _ = os.Rename(file+".old", file) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			replace(s)
			if got := s.call("ADD", "c1"); got.out != okResult || got.code != 0 || got.took < 400*time.Millisecond {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		s := newStand(t)
		must(t, os.Remove(filepath.Join(s.bin, "scripted")))
		got := s.call("DEL", "c1")
		if got.code != 1 || !strings.Contains(got.out, `"code":11`) || !strings.Contains(got.out, "scripted") || got.took > time.Minute {
			t.Errorf("%+v", got)
		}
	})
}

// More than is believed of any plugin is an error, and nothing of it is passed on.
func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.acts = map[string]act{"ADD": {Many: maxOut + 1}}
	if got := s.call("ADD", "c1"); got.code != 1 || len(got.out) > 1000 || !strings.Contains(got.out, `"code":11`) {
		t.Errorf("%d bytes, code %d", len(got.out), got.code)
	}
	s.acts = map[string]act{"ADD": {Out: okResult, Err: strings.Repeat("e", 2*maxSaid)}}
	if got := s.call("ADD", "c2"); got.out != okResult || len(got.err) != maxSaid {
		t.Errorf("%d bytes, %d of stderr, code %d", len(got.out), len(got.err), got.code)
	}
}
