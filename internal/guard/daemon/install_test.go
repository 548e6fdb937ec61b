package daemon

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

const netFile = "etc/cni/net.d/10-calico.conflist"

// TestInstall: program, mode, delegate and configuration, through the host's links.
func TestInstall(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	r := s.turn("observe")
	if s.state() != cniconf.Patched || r.Mode != guard.Observe || r.Why != "" || r.Put != 1 || r.State != "patched" {
		t.Fatalf("%s: %+v", s.text(netFile), r)
	}
	if r.File != "/"+netFile || r.Program != "/opt/real/plumbline-cni" || r.Delegate != "calico" {
		t.Errorf("%+v", r)
	}
	if s.text("opt/real/plumbline-cni") != "the program" || s.text("run/plumbline/guard/mode") != "observe\n" || s.text("run/plumbline/guard/delegate") != "calico\n" {
		t.Error("program, mode or delegate are not there")
	}
	st, _ := os.Stat(s.path("opt/real/plumbline-cni"))
	if st.Mode().Perm() != 0o755 {
		t.Errorf("%s", st.Mode())
	}
	if at := s.at(); !at.on || at.network != "k8s-pod-network" || at.ifName != "eth0" {
		t.Errorf("%+v", at)
	}
	// Nothing has changed: nothing is done.
	before := trace(s.path(netFile), s.path("opt/real/plumbline-cni"))
	s.pass(time.Minute)
	if r := s.turn(""); r.Put != 1 || trace(s.path(netFile), s.path("opt/real/plumbline-cni")) != before {
		t.Errorf("put again: %+v", r)
	}
	// Calico writes it anew: it is put back, without waiting for a whole look.
	s.write(netFile, strings.Replace(plainList, `"calico-ipam"`, `"host-local"`, 1), 0o600)
	if r := s.turn(""); r.Put != 2 || s.state() != cniconf.Patched || !strings.Contains(s.text(netFile), "host-local") {
		t.Errorf("%+v: %s", r, s.text(netFile))
	}
	// Only the mode: nothing else is touched.
	before = trace(s.path(netFile), s.path("opt/real/plumbline-cni"))
	if r := s.turn("enforce"); r.Mode != guard.Enforce || s.text("run/plumbline/guard/mode") != "enforce\n" || trace(s.path(netFile), s.path("opt/real/plumbline-cni")) != before {
		t.Errorf("%+v", r)
	}
	s.again()
	if s.turn(""); trace(s.path(netFile), s.path("opt/real/plumbline-cni")) != before {
		t.Error("a new guard daemon replaced what was right")
	}
	s.write("plumbline-cni", "a new one!!", 0o755) // of the same length
	s.again()                                      // with a new image
	if r := s.turn(""); s.text("opt/real/plumbline-cni") != "a new one!!" || r.Put != 0 || r.Mode != guard.Enforce {
		t.Errorf("%+v: %s", r, s.text("opt/real/plumbline-cni"))
	}
}

// TestGarbageKeepsMode: what makes no sense changes nothing, and is said.
func TestGarbageKeepsMode(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("enforce")
	for _, bad := range []string{"banana", "", "off observe", strings.Repeat("off", 1000)} {
		r := s.turn(bad + " ")
		if r.Mode != guard.Enforce || s.text("run/plumbline/guard/mode") != "enforce\n" || s.state() != cniconf.Patched || !strings.Contains(r.Why, "the mode stays enforce") {
			t.Errorf("%.10q: %+v", bad, r)
		}
	}
	if err := os.RemoveAll(s.path("modes")); err != nil {
		t.Fatal(err)
	}
	s.again() // what is in force outlives the keeper
	if r := s.turn(""); r.Mode != guard.Enforce || !strings.Contains(r.Why, "the mode stays enforce") {
		t.Errorf("%+v", r)
	}
	fresh := newStand(t)
	if r := fresh.turn("banana"); r.Wanted != guard.Off || fresh.state() != cniconf.Plain || !strings.Contains(r.Why, "the mode stays off") || fresh.text("opt/real/plumbline-cni") != "-" {
		t.Errorf("%+v", r)
	}
}

// TestForeign: what is not Calico's is left alone, and half a file is waited for.
func TestForeign(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"name":"n","cniVersion":"0.3.1","plugins":[{"type":"cilium-cni"}]}`,
		`{"name":"n","cniVersion":"0.3.1","plugins":[{"type":"multus","delegates":[{"type":"calico"}]}]}`,
		`{"name":"n","cniVersion":"9.9.9","plugins":[{"type":"calico"}]}`,
	} {
		s := newStand(t)
		s.write(netFile, text, 0o600)
		r := s.turn("enforce")
		if s.text(netFile) != text || r.State != "foreign" || r.Why == "" || r.Mode != "" || s.text("opt/real/plumbline-cni") != "-" || s.at().on {
			t.Errorf("%s: %+v", s.text(netFile), r)
		}
	}
	s := newStand(t)
	half := plainList[:40]
	s.write(netFile, half, 0o600)
	if r := s.turn("enforce"); s.text(netFile) != half || r.State != "broken" || r.Why == "" {
		t.Errorf("%+v", r)
	}
	s.write(netFile, plainList, 0o600)
	if r := s.turn(""); r.Mode != guard.Enforce || r.Why != "" {
		t.Errorf("%+v", r)
	}
}

// TestProgramMissing: a configuration that names a program which cannot be put there would
// let every pod start fail.
func TestProgramMissing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("observe")
	if err := errorsOf(os.Remove(s.path("opt/real/plumbline-cni")), os.Remove(s.path("plumbline-cni"))); err != nil {
		t.Fatal(err)
	}
	if r := s.turn(""); s.state() != cniconf.Plain || r.Mode != "" || r.Why == "" || s.at().on {
		t.Fatalf("%s: %+v", s.state(), r)
	}
	s.pass(time.Minute)
	if r := s.turn(""); s.state() != cniconf.Plain || r.Put != 1 { // not without a program
		t.Fatalf("%+v", r)
	}
	// An older one that is there serves on.
	s = newStand(t)
	s.turn("observe")
	if err := os.Remove(s.path("plumbline-cni")); err != nil {
		t.Fatal(err)
	}
	s.again()
	if r := s.turn(""); s.state() != cniconf.Patched || r.Mode != guard.Observe || !strings.Contains(r.Why, "could not be updated") {
		t.Fatalf("%+v", r)
	}
	// What is no file is not ours.
	s = newStand(t)
	if err := os.Symlink("/opt/real/calico", s.path("opt/real/plumbline-cni")); err != nil {
		t.Fatal(err)
	}
	if r := s.turn("observe"); s.state() != cniconf.Plain || !strings.Contains(r.Why, "not replaced") {
		t.Fatalf("%+v", r)
	}
}

// TestSilentRuntime: modes are still switched, and nothing else is touched.
func TestSilentRuntime(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("observe")
	before := trace(s.path(netFile))
	s.silent = errSilent
	if r := s.turn("enforce"); s.text("run/plumbline/guard/mode") != "enforce\n" || r.Mode != guard.Enforce || !s.at().on || trace(s.path(netFile)) != before || !strings.Contains(r.Why, "does not answer") {
		t.Errorf("%+v", r)
	}
	r := s.turn("off")
	if s.text("run/plumbline/guard/mode") != "off\n" || s.text("opt/real/plumbline-cni.removed") == "-" || s.text("opt/real/plumbline-cni") == "-" || trace(s.path(netFile)) != before {
		t.Errorf("%+v", r)
	}
	s.silent = nil
	s.pass(time.Minute)
	if r := s.turn(""); s.state() != cniconf.Plain || r.Why != "" {
		t.Errorf("%+v", r)
	}
}

// TestFallsSilent: a runtime that stops to answer in the middle of a look changes nothing.
func TestFallsSilent(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("observe")
	asked := 0
	s.Networking = func(ctx context.Context) (cri.Networking, error) {
		if asked++; asked > 1 {
			return cri.Networking{}, errSilent
		}
		return s.networking(ctx)
	}
	began := time.Now() //nolint:forbidigo // how long it took
	if r := s.turn("enforce"); r.Mode != guard.Enforce || !s.at().on || s.state() != cniconf.Patched || !strings.Contains(r.Why, "does not answer") || time.Since(began) > 5*time.Second {
		t.Errorf("after %s: %+v", time.Since(began), r)
	}
}

// TestRefused: what the runtime does not load is taken out, and not tried every time.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("off")
	s.stays = true
	r := s.turn("observe")
	if s.text(netFile) != plainList || r.Mode != "" || !strings.Contains(r.Why, "does not load") || r.Put != 0 {
		t.Fatalf("%+v", r)
	}
	s.stays = false
	s.pass(20 * time.Second)
	if r := s.turn(""); s.state() != cniconf.Plain || !strings.Contains(r.Why, "next attempt at") {
		t.Fatalf("%+v", r)
	}
	s.pass(time.Minute)
	if r := s.turn(""); s.state() != cniconf.Patched || r.Why != "" || r.Put != 1 {
		t.Fatalf("%+v", r)
	}
}
