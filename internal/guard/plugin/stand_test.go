package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/ownerdb"
)

// A stand is a node with a guard and a scripted delegate.
type stand struct {
	t    *testing.T
	bin  string
	dir  string
	log  string
	kind string // of the delegate
	acts map[string]act
	conf map[string]any // more of our entry
	env  []string
	has  *store // of the delegate, if it has one
}

const okResult = `{ "cniVersion":"0.3.1",
  "interfaces":[{"name":"cali1"},{"name":"eth0","sandbox":"/x"}], "ips":[{"version":"4","address":"10.0.0.7/32","interface":1}], "odd" : 1.0e3 }`

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{
		t: t, bin: t.TempDir(), dir: filepath.Join(t.TempDir(), "guard"), log: t.TempDir(), kind: "scripted",
		acts: map[string]act{"ADD": {Out: okResult}}, conf: map[string]any{},
	}
	self, err := os.Executable()
	must(t, err)
	for _, name := range []string{ourType, "scripted", "calico", "calico-ipam"} {
		must(t, os.Symlink(self, filepath.Join(s.bin, name)))
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stand) mode(m guard.Mode) *stand {
	s.t.Helper()
	must(s.t, os.MkdirAll(s.dir, 0o755))
	must(s.t, os.WriteFile(filepath.Join(s.dir, guard.ModeFile), []byte(m+"\n"), 0o600))
	return s
}

// version says what the delegate answers to -v.
func (s *stand) version(v string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.bin, s.kind+".version"), []byte(v), 0o600))
}

// entry is our entry as libcni hands it over.
func (s *stand) entry() []byte {
	s.t.Helper()
	conf := map[string]any{
		"cniVersion": "0.3.1", "name": "net", "type": ourType,
		"delegate": map[string]any{"type": s.kind, "ipam": map[string]any{"type": "calico-ipam"}, "script": script{s.log, s.acts, s.has}},
	}
	for k, v := range s.conf {
		conf[k] = v
	}
	b, err := json.Marshal(conf)
	must(s.t, err)
	return b
}

// A said is what a caller of the guard got.
type said struct {
	out, err string
	code     int
	took     time.Duration
}

func (s *stand) command(verb, container string, more ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(s.bin, ourType))
	cmd.Env = slices.Concat([]string{
		"CNI_COMMAND=" + verb, "CNI_CONTAINERID=" + container, "CNI_IFNAME=eth0", "CNI_NETNS=/no/such/ns", "CNI_PATH=/nowhere:" + s.bin,
		"CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0;K8S_POD_UID=u-" + container + ";SECRET=hush",
		"TEST_DIR=" + s.dir, "GORACE=atexit_sleep_ms=0", // with the race detector every process would end a second later
	}, s.env, more)
	cmd.Stdin = bytes.NewReader(s.entry())
	return cmd
}

func (s *stand) call(verb, container string, more ...string) said {
	s.t.Helper()
	return s.run(s.command(verb, container, more...))
}

// replay works off the queue, some time later.
func (s *stand) replay(ahead string, more ...string) (said, replayed) {
	s.t.Helper()
	cmd := s.command("", "", append([]string{"TEST_AHEAD=" + ahead}, more...)...)
	cmd.Args = append(cmd.Args, "replay")
	cmd.Stdin = strings.NewReader(`{"cniVersion":"0.3.1","name":"net","plugins":[{"type":"other"},` + string(s.entry()) + `]}`)
	got := s.run(cmd)
	var r replayed
	if err := json.Unmarshal([]byte(got.out), &r); err != nil {
		s.t.Errorf("%+v: %v", got, err)
	}
	return got, r
}

func (s *stand) run(cmd *exec.Cmd) said {
	s.t.Helper()
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	began := time.Now() //nolint:forbidigo // it measures
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Error(err)
	}
	return said{out.String(), stderr.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
}

// heard gives the calls that the delegate saw, in order.
func (s *stand) heard() []heard {
	s.t.Helper()
	files, err := os.ReadDir(s.log)
	must(s.t, err)
	names := make([]string, 0, len(files))
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), ".") { // not yet whole
			names = append(names, f.Name())
		}
	}
	sort.Strings(names)
	var out []heard
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(s.log, n))
		must(s.t, err)
		var h heard
		must(s.t, json.Unmarshal(b, &h))
		out = append(out, h)
	}
	return out
}

// verbs gives what the delegate was asked, in order.
func (s *stand) verbs() string {
	s.t.Helper()
	var out []string
	for _, h := range s.heard() {
		out = append(out, lookup(h.Env, "CNI_COMMAND"))
	}
	return strings.Join(out, " ")
}

func (s *stand) db() *ownerdb.DB {
	s.t.Helper()
	b, err := ownerdb.Open(filepath.Join(s.dir, guard.OwnersDir))
	must(s.t, err)
	return b
}

func (s *stand) owner(container string) *guard.Owner {
	s.t.Helper()
	o, err := s.db().Owner(guard.Key{Network: "net", Container: container, IfName: "eth0"})
	must(s.t, err)
	return o
}

func (s *stand) queued() []guard.QueuedDel {
	s.t.Helper()
	q, err := s.db().Queued()
	must(s.t, err)
	return q
}

// events gives the event log.
func (s *stand) events() (events []guard.Event, lines []eventlog.Entry) {
	s.t.Helper()
	_, err := eventlog.Read(filepath.Join(s.dir, guard.EventDir), func(f eventlog.Entry) error {
		var e guard.Event
		lines = append(lines, f)
		if err := json.Unmarshal(f.Now, &e); err != nil {
			return err
		}
		events = append(events, e)
		return nil
	})
	must(s.t, err)
	return events, lines
}

// until gives a file that does not exist yet, and what makes it.
func (s *stand) until() (file string, now func()) {
	file = filepath.Join(s.t.TempDir(), "now")
	return file, func() { must(s.t, os.WriteFile(file, []byte("now"), 0o600)) }
}

// eventually waits for what another process does.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for !f() {
		select {
		case <-ctx.Done():
			t.Fatal("not in time: " + what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}
