package plugin

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/kernel/podns"
)

var sequences = flag.Int("sequences", 200, "random sequences of calls on bridge and host-local")

// plugins builds the real bridge and host-local, as the lab does, and our own program
// without the race detector: here it is one of many processes, and the slowest.
func plugins(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("PLUMBLINE_GUARD_TEST_PLUGINS"); dir != "" {
		return dir
	}
	const from = "github.com/containernetworking/plugins/plugins/"
	dir := t.TempDir()
	for where, args := range map[string][]string{
		"../../../lab/build/cni": {"build", "-trimpath", "-o", dir + "/", from + "main/bridge", from + "ipam/host-local"},
		".":                      {"test", "-c", "-o", filepath.Join(dir, ourType), "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = where
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	t.Setenv("PLUMBLINE_GUARD_TEST_PLUGINS", dir)
	return dir
}

// A sandbox is one of a sequence's, with what the model says of it.
type sandbox struct {
	id, pod, netns string
	held           bool   // the delegate has done an ADD for it, and no DEL since
	result         string // of its ADD
}

// A sequence is a random run of calls on one network, against the model.
type sequence struct {
	*stand
	t     *testing.T
	r     *rand.Rand
	net   string
	store string
	mode  guard.Mode
	all   []*sandbox
	said  []string
}

// Random calls in any order, repeated, killed in the middle, on the real plugins: what
// they hold is what the model says, after every call.
func TestRootBridge(t *testing.T) {
	dir := plugins(t)
	if !alone(t, fmt.Sprintf("-sequences=%d", *sequences), "-test.parallel=8") {
		return
	}
	var mu sync.Mutex
	rules := map[int]int{}
	t.Run("all", func(t *testing.T) {
		for i := range *sequences {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				s := &sequence{stand: newStand(t), t: t, r: rand.New(rand.NewPCG(7, uint64(i))), net: fmt.Sprint("n", i)}
				s.bridge(dir, i)
				for range 3 + s.r.IntN(4) {
					s.step()
					s.compare()
				}
				s.end()
				events, _ := s.events()
				mu.Lock()
				defer mu.Unlock()
				for _, e := range events {
					rules[e.Rule]++
				}
			})
		}
	})
	t.Logf("how often each rule was followed: %v", rules)
	for _, rule := range []int{2, 4, 5, 6, 8, 10} {
		if rules[rule] == 0 {
			t.Errorf("rule %d was never followed", rule)
		}
	}
}

func (s *sequence) bridge(dir string, i int) {
	must(s.t, os.Remove(filepath.Join(s.bin, ourType)))
	for _, name := range []string{"bridge", "host-local", ourType} {
		must(s.t, os.Symlink(filepath.Join(dir, name), filepath.Join(s.bin, name)))
	}
	s.store = s.t.TempDir()
	s.mode = []guard.Mode{guard.Observe, guard.Enforce}[i%2]
	s.stand.mode(s.mode)
	// Without a MAC of its own a bridge has that of a port, or none: ADD, in a race with a
	// port that goes, then fails ("could not set bridge's mac").
	bridge := fmt.Sprint("br", i)
	ip(s.t, "link", "add", bridge, "address", fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8, i&255), "type", "bridge")
	s.conf = map[string]any{"name": s.net, "cniVersion": []string{"0.3.1", "0.4.0", "1.0.0", "1.1.0"}[i/2%4], "delegate": map[string]any{
		"type": "bridge", "bridge": bridge, "isDefaultGateway": true,
		"ipam": map[string]any{"type": "host-local", "dataDir": s.store, "subnet": fmt.Sprintf("10.%d.%d.0/24", 1+i/250, i%250)},
	}}
}

func (s *sequence) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s, %s\n%s", fmt.Sprintf(format, args...), s.mode, strings.Join(s.said, "\n"))
}

// compare holds the model against host-local's store and against the namespaces.
func (s *sequence) compare() {
	s.t.Helper()
	stored := map[string]string{} // container to address
	files, err := os.ReadDir(filepath.Join(s.store, s.net))
	if err != nil && len(s.said) > 0 && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(s.store, s.net, f.Name()))
		must(s.t, err)
		if id, _, ok := strings.Cut(string(b), "\r\n"); ok {
			stored[id] = f.Name()
		}
	}
	for _, b := range s.all {
		address, held := stored[b.id]
		if held != b.held {
			s.fail("%s: the delegate holds %q, the model says %v", b.id, address, b.held)
		}
		if inside, seen := s.inside(b); seen && inside != address {
			s.fail("%s: inside is %q, the store says %q", b.id, inside, address)
		}
		o, err := s.db().Owner(guard.Key{Network: s.net, Container: b.id, IfName: "eth0"})
		must(s.t, err)
		if b.held && o != nil && (o.State == guard.Deleted || o.State == guard.Failed) || !b.held && o != nil && o.State == guard.Added && !s.broken(b) {
			s.fail("%s: held %v, on record as %+v", b.id, b.held, o)
		}
	}
}

// broken tells that a guard was killed over a sandbox: then its record may be behind.
func (s *sequence) broken(b *sandbox) bool {
	for _, line := range s.said {
		if strings.Contains(line, b.id+" ") && strings.Contains(line, "TEST_BREAK") {
			return true
		}
	}
	return false
}

// inside gives the address of eth0 in a sandbox, if its namespace is there.
func (s *sequence) inside(b *sandbox) (string, bool) {
	f, _, err := openNamespace(b.netns)
	if err != nil {
		return "", false
	}
	defer f.Close()
	rows, err := podns.Read(context.WithoutCancel(s.t.Context()), f)
	must(s.t, err)
	for _, r := range rows {
		if r.Device == "eth0" && len(r.IPs) > 0 {
			return r.IPs[0].Addr().String(), true
		}
	}
	return "", true
}

// end deletes all, one of them once more: nothing is left.
func (s *sequence) end() {
	for _, b := range append(slices.Clone(s.all), s.all[0]) {
		if got := s.ask("DEL", b); got.code != 0 {
			s.fail("DEL of %s was refused", b.id)
		}
		b.held = false
	}
	s.compare()
	for _, b := range s.all {
		if _, err := os.Stat(b.netns); err == nil {
			unpin(s.t, b.netns)
		}
	}
	ip(s.t, "link", "del", s.conf["delegate"].(map[string]any)["bridge"].(string))
}
