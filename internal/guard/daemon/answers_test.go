package daemon

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

// A program that does not run on the node never gets before Calico's, and one that begins to fail is
// taken out.
func TestProgramThatCannotRun(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.cannotRun = errors.New("exec format error")
	if r := s.turn("observe"); s.state() != cniconf.Plain || r.Mode != "" || r.Put != 0 || !strings.Contains(r.Why, "cannot be used on this node: exec format error") {
		t.Fatalf("%s: %+v", s.state(), r)
	}
	s.cannotRun = nil
	s.pass(lookAgain)
	if r := s.turn(""); s.state() != cniconf.Patched || r.Put != 1 {
		t.Fatalf("%s: %+v", s.state(), r)
	}
	s.cannotRun = errors.New("permission denied")
	took := time.Duration(0)
	for s.state() == cniconf.Patched && took < 5*time.Minute {
		s.pass(lookAgain)
		took += lookAgain
		s.turn("")
	}
	if took > time.Minute {
		t.Errorf("removed after %s", took)
	}
	if r := s.report; r.Mode != "" || !strings.Contains(r.Why, "permission denied") {
		t.Errorf("%+v", r)
	}
	s.cannotRun = nil
	for range 10 {
		s.pass(lookAgain)
		s.turn("")
	}
	if s.state() != cniconf.Patched {
		t.Errorf("it answers again, and the file is %s", s.state())
	}
}

// TestAsked: what a runtime would see is what decides.
func TestAsked(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	for script, want := range map[string]string{
		`test "$CNI_COMMAND" = VERSION && cat > /dev/null && echo '{"cniVersion":"1.0.0","supportedVersions":["0.3.1","1.0.0"]}'`: "",
		`echo '{}'`:           "does not answer",
		`echo no >&2; exit 3`: "exit status 3: no",
		`kill -9 $$`:          "killed",
	} {
		at := s.scripted("/", script)
		if err := s.asked(t.Context(), &at); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
	at := s.scripted("/", "")
	s.write("opt/real/plumbline-cni", "\x7fELF of another machine", 0o755)
	if err := s.asked(t.Context(), &at); err == nil || !strings.Contains(err.Error(), "exec format error") {
		t.Errorf("another machine's: %v", err)
	}
	if err := os.Chmod(s.path("opt/real/plumbline-cni"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.asked(t.Context(), &at); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("not executable: %v", err)
	}
}

// A misspelt mode after a reboot leaves the last good one.
func TestModeSurvivesReboot(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("enforce")
	s.write("modes/mode", "enforced", 0o644)
	if err := os.RemoveAll(s.path("run/plumbline")); err != nil { // /run is a tmpfs
		t.Fatal(err)
	}
	s.again()
	if r := s.turn(""); r.Wanted != "enforce" || r.Mode != "enforce" || !strings.Contains(r.Why, `"enforced" is not a mode`) || !strings.Contains(r.Why, "the mode stays enforce") {
		t.Errorf("%+v", r)
	}
	s.turn("off")
	s.write("modes/mode", "observed", 0o644)
	s.again()
	if r := s.turn(""); r.Wanted != "off" {
		t.Errorf("%+v", r)
	}
}

// A mode that is switched off is off for everything at once, whatever the runtime answers.
func TestModeHoldsWithoutRuntime(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("enforce")
	s.silent = errSilent
	for _, mode := range []guard.Mode{guard.Observe, guard.Off} {
		s.turn(string(mode))
		if at := s.at(); at.mode != mode {
			t.Errorf("%s is wanted, and the stage is in %s", mode, at.mode)
		}
	}
}

// A program that answers now and then does not come and go.
func TestFlappingProgram(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("enforce")
	for range 40 { // half an hour
		s.cannotRun = errors.New("out of memory")
		for range 2 {
			s.pass(lookAgain)
			s.turn("")
		}
		s.cannotRun = nil
		s.pass(lookAgain)
		s.turn("")
	}
	if s.report.Put > 6 {
		t.Errorf("inserted %d times in half an hour", s.report.Put)
	}
}
