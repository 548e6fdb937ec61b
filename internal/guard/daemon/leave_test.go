package daemon

import (
	"encoding/base64"
	"errors"
	"os"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

func errorsOf(errs ...error) error { return errors.Join(errs...) }

const program0 = "opt/real/plumbline-cni"

// TestOff: the guard goes out at once, its program only when nobody names it.
func TestOff(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("enforce")
	cache := "var/lib/cni/results/k8s-pod-network-c1-eth0"
	s.write(cache, `{"kind":"cniCacheV1","config":"`+base64.StdEncoding.EncodeToString([]byte(s.text(netFile)))+`"}`, 0o600)
	r := s.turn("off")
	if s.text(netFile) != plainList || r.Mode != "" || r.Wanted != guard.Off || r.Named != 1 || r.State != "plain" || r.Why != "" {
		t.Fatalf("%s: %+v", s.text(netFile), r)
	}
	for range 5 {
		if s.text(program0) == "-" || s.text(program0+".removed") == "-" {
			t.Fatal("the program went while a cache names it")
		}
		s.pass(2 * time.Minute)
		r = s.turn("")
	}
	if r.Program != "/"+program0 || r.Named != 1 {
		t.Errorf("%+v", r)
	}
	if r := s.turn("observe"); r.Mode != guard.Observe || s.text(program0+".removed") != "-" {
		t.Errorf("it is on, and hands calls on: %+v", r)
	}
	s.turn("off")
	if err := os.Remove(s.path(cache)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.pass(70 * time.Second)
		if r := s.turn(""); s.text(program0) == "-" || r.Named != 0 {
			t.Fatalf("it went without delay: %+v", r)
		}
	}
	s.pass(70 * time.Second)
	if r := s.turn(""); s.text(program0) != "-" || s.text(program0+".removed") != "-" || r.Program != "" {
		t.Fatalf("it is still there: %+v", r)
	}
	if r := s.turn("observe"); s.state() != cniconf.Patched || s.text(program0) != "the program" || r.Mode != guard.Observe {
		t.Fatalf("%+v", r)
	}
}

// TestOffInDoubt: the program stays if it cannot be seen who names it, if the runtime still
// has it loaded, or if a DEL is owed.
func TestOffInDoubt(t *testing.T) {
	t.Parallel()
	for name, doubt := range map[string]func(s *stand) (clear func()){
		"half written": func(s *stand) func() {
			s.write("etc/cni/net.d/99-other.conf", `{"name":`, 0o600)
			return func() { _ = os.Remove(s.path("etc/cni/net.d/99-other.conf")) }
		},
		"still loaded": func(s *stand) func() {
			s.stays = true
			return func() { s.stays = false }
		},
		"a DEL is owed": func(s *stand) func() {
			l := guard.QueuedDel{Call: guard.Call{Verb: guard.Del, Network: "n", Container: "c", IfName: "eth0"}}
			if err := s.db.Queue(l); err != nil {
				t.Fatal(err)
			}
			return func() { _ = s.db.Unqueue(l.Key()) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			s.turn("observe")
			s.pass(time.Minute)
			s.turn("")
			clear := doubt(s)
			s.turn("off")
			for range 5 {
				s.pass(5 * time.Minute)
				s.turn("")
			}
			if s.text(program0) == "-" || s.text(program0+".removed") == "-" {
				t.Fatal("it went in doubt")
			}
			clear()
			for range 5 {
				s.pass(5 * time.Minute)
				s.turn("")
			}
			if s.text(program0) != "-" || s.text(program0+".removed") != "-" {
				t.Error("it is there without a doubt")
			}
		})
	}
}

// TestOffOtherFiles: a file that another has pushed aside must not keep the guard.
func TestOffOtherFiles(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.turn("observe")
	other := `{"name":"other","cniVersion":"0.3.1","plugins":[{"type":"other"}]}`
	s.write("etc/cni/net.d/05-other.conflist", other, 0o600)
	if r := s.turn("off"); s.text(netFile) != plainList || r.Why != "" || s.text("etc/cni/net.d/05-other.conflist") != other {
		t.Fatalf("%s: %+v", s.text(netFile), r)
	}
}
