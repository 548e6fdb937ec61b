package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/cri"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
	"plumbline.dev/plumbline/internal/model"
)

const plainList = `{"name":"k8s-pod-network","cniVersion":"0.3.1","plugins":[{"type":"calico","ipam":{"type":"calico-ipam"}},{"type":"portmap"}]}`

// A stand is a node of directories. What its runtime says is what a runtime would that
// loads the first file.
type stand struct {
	t    *testing.T
	root string
	*daemon

	mu         sync.Mutex
	now        time.Time
	silent     error // why the runtime does not answer
	stays      bool  // the runtime does not load what is changed
	first      *cri.Networking
	boxes      []model.Sandbox
	calls      []model.Process
	namespaces []uint64
	cannotRun  error // why the guard's program does not
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{t: t, root: t.TempDir(), now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	for _, dir := range []string{"etc/cni/net.d", "opt/real", "run", "var/lib/cni/results", "modes"} {
		if err := os.MkdirAll(filepath.Join(s.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/opt/real", filepath.Join(s.root, "opt/bin")); err != nil { // absolute: the host's
		t.Fatal(err)
	}
	s.write("opt/real/calico", "#!/bin/sh\n", 0o755)
	s.write("plumbline-cni", "the program", 0o755)
	s.write("etc/cni/net.d/10-calico.conflist", plainList, 0o600)
	s.again()
	return s
}

// again is a guard daemon that begins anew.
func (s *stand) again() {
	s.t.Helper()
	k, err := newDaemon(environment{
		Node: "w1", Root: s.root, Modes: s.path("modes"), Program: s.path("plumbline-cni"), Record: s.path("record"),
		Networking: s.networking,
		Sandboxes:  func(context.Context) ([]model.Sandbox, error) { return s.boxes, s.silent },
		Calls:      func(context.Context) ([]model.Process, error) { return s.calls, nil },
		Namespaces: func(context.Context) ([]uint64, error) { return s.namespaces, nil },
		Answers:    func(context.Context, *stage) error { return s.cannotRun },
		Now: func() time.Time {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.now
		},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.daemon = k
}

func (s *stand) path(name string) string { return filepath.Join(s.root, name) }

func (s *stand) write(name, text string, perm os.FileMode) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), perm); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stand) text(name string) string {
	raw, err := os.ReadFile(s.path(name))
	if err != nil {
		return "-"
	}
	return string(raw)
}

func (s *stand) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// turn is one round of the installing worker, with a mode of all; "" changes nothing.
func (s *stand) turn(mode string) guard.Report {
	s.t.Helper()
	if mode != "" {
		s.write("modes/mode", mode, 0o644)
	}
	s.installs(s.t.Context())
	return s.report
}

func (s *stand) networking(context.Context) (cri.Networking, error) {
	if s.silent != nil {
		return cri.Networking{}, s.silent
	}
	out := cri.Networking{ConfDir: "/etc/cni/net.d", BinDirs: []string{"/nowhere", "/opt/bin"}, Networks: []cri.Network{{Name: "cni-loopback", IfName: "lo", Types: []string{"loopback"}}}}
	if s.stays && s.first != nil {
		return *s.first, nil
	}
	files, _ := filepath.Glob(s.path("etc/cni/net.d/*.conflist"))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		var v struct {
			Name    string
			Plugins []struct{ Type string }
		}
		if err != nil || json.Unmarshal(raw, &v) != nil {
			continue
		}
		n := cri.Network{Name: v.Name, IfName: "eth0"}
		for _, p := range v.Plugins {
			n.Types = append(n.Types, p.Type)
		}
		out.Networks = append(out.Networks, n)
		break
	}
	s.first = &out
	return out, nil
}

var errSilent = errors.New("the runtime does not answer")

func (s *stand) state() cniconf.State {
	is, _ := cniconf.NewFile(s.path("etc/cni/net.d/10-calico.conflist"), "k8s-pod-network").State()
	return is
}
