package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/hostfile"
)

// scripted gives a stage with a program of the test's own, in the machine's root.
func (s *stand) scripted(root, script string) stage {
	s.t.Helper()
	s.write("opt/real/plumbline-cni", "#!/bin/sh\n"+script, 0o755)
	s.Root, s.tree = root, hostfile.Root(root)
	return stage{on: true, mode: guard.Enforce, file: s.path(netFile), binDirs: []string{"/a", "/b"}, program: program{hostfile.Root(root), s.path("opt/real/plumbline-cni")}}
}

// TestReplay: the program is told what it needs, and no more.
func TestReplay(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	out := s.path("out")
	at := s.scripted("/", `env > `+out+`; pwd >> `+out+`; echo "$@" >> `+out+`; cat >> `+out+`
printf '%s' '{"done":1,"waiting":2,"left":3,"why":["first\nline","second"]}'`)
	got, err := s.replay(t.Context(), &at)
	if err != nil || got.Done != 1 || got.Waiting != 2 || got.Left != 3 || got.waits() != "first" {
		t.Fatalf("%+v, %v", got, err)
	}
	said := s.text("out")
	for _, want := range []string{"CNI_PATH=/a:/b\n", "PATH=/usr/local/sbin", "\n/\n", "\nreplay\n", plainList} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if strings.Contains(said, "HOME=") || strings.Contains(said, "KUBERNETES") {
		t.Errorf("it was told too much: %s", said)
	}
	for script, want := range map[string]string{
		"echo no; exit 3": "exit status 3", "exit 0": "no valid result", `echo '{"trouble":"no record"}'; exit 1`: "no record", `echo '{"done":-1}'`: "no valid result",
	} {
		at := s.scripted("/", script)
		if _, err := s.replay(t.Context(), &at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// TestReplayHangs: on the deadline the whole group is ended, and nothing waits for it.
func TestReplayHangs(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	at := s.scripted("/", "echo $$ > "+s.path("pid")+"; sleep 600 & sleep 600")
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
	defer stop()
	began := time.Now() //nolint:forbidigo // how long it took
	if _, err := s.replay(ctx, &at); err == nil || time.Since(began) > time.Minute {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	group := strings.TrimSpace(s.text("pid"))
	for range 1500 {
		if !alivein(group) {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("something of it lives on")
}

// alivein tells whether any process is in a group.
func alivein(group string) bool {
	all, _ := os.ReadDir("/proc")
	for _, p := range all {
		raw, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue
		}
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(f) > 2 && f[2] == group && f[0] != "Z" {
			return true
		}
	}
	return false
}

// TestRootReplayChroot: the program runs in the root that it is given.
func TestRootReplayChroot(t *testing.T) {
	s := newStand(t)
	at := s.scripted("/proc/self/root", `echo '{"done":4}'`)
	if got, err := s.replay(t.Context(), &at); err != nil || got.Done != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	at = s.scripted(s.root, `echo '{"done":4}'`)
	if _, err := s.replay(t.Context(), &at); err == nil {
		t.Error("it ran outside of the root")
	}
}

// TestQueue: what is due is done, once at a time, and why the first waits is told.
func TestQueue(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	runs := s.path("runs")
	at := s.scripted("/", "echo x >> "+runs+`; echo '{"done":0,"waiting":1,"why":["the name has an owner"]}'`)
	s.set(at)
	ask := func() guard.Report {
		t.Helper()
		if err := s.queue(t.Context(), s.Now()); err != nil {
			t.Fatal(err)
		}
		return s.report
	}
	if r := ask(); r.Queue != 0 || s.text("runs") != "-" {
		t.Fatalf("%+v", r)
	}
	now, err := sinceBoot()
	if err != nil {
		t.Fatal(err)
	}
	l := guard.QueuedDel{Call: guard.Call{Verb: guard.Del, Network: "n", Container: "c", IfName: "eth0"}, Why: "later", At: now + 1000}
	if err := s.db.Queue(l); err != nil {
		t.Fatal(err)
	}
	if r := ask(); r.Queue != 1 || r.Waiting != "later" || s.text("runs") != "-" {
		t.Fatalf("not due: %+v", r)
	}
	if err := s.db.Unqueue(l.Key()); err != nil {
		t.Fatal(err)
	}
	l.At = 0
	if err := s.db.Queue(l); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []guard.Mode{guard.Observe, guard.Off} {
		idle := at
		idle.mode = mode
		s.set(idle)
		if r := ask(); r.Queue != 1 || r.Waiting != "queued DELs are carried out in enforce only" || s.text("runs") != "-" {
			t.Fatalf("%s: %+v: %s", mode, r, s.text("runs"))
		}
	}
	s.set(at)
	if r := ask(); r.Queue != 1 || r.Waiting != "the name has an owner" || s.text("runs") != "x\n" {
		t.Fatalf("%+v: %s", r, s.text("runs"))
	}
	if ask(); s.text("runs") != "x\n" {
		t.Error("it ran again at once")
	}
	s.pass(time.Minute)
	if ask(); s.text("runs") != "x\nx\n" {
		t.Error("it did not run again")
	}
	if err := os.Remove(at.program.file()); err != nil {
		t.Fatal(err)
	}
	s.pass(time.Minute)
	if r := ask(); !strings.Contains(r.Waiting, "is missing") {
		t.Errorf("%+v", r)
	}
}

func FuzzParseSaid(f *testing.F) {
	f.Add([]byte(`{"done":1,"why":["a"]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := parseSaid(raw)
		if err == nil && (s.Done < 0 || len(s.waits()) > 500) {
			t.Errorf("%+v", s)
		}
	})
}

// TestRun: all of it together, until it is told to end; then another may begin.
func TestRun(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.write("modes/mode", "observe", 0o644)
	s.Now = time.Now //nolint:forbidigo // the real clock: what hangs must end
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	var r guard.Report
	for range 1200 {
		time.Sleep(50 * time.Millisecond)
		if json.Unmarshal([]byte(s.text("run/plumbline/guard/status")), &r) == nil && r.Mode == guard.Observe {
			break
		}
	}
	if r.Mode != guard.Observe || r.Node != "w1" || r.Put != 1 || r.At.IsZero() {
		t.Errorf("%+v", r)
	}
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	second := &daemon{environment: s.environment, dir: s.dir} // it waits
	if _, err := second.alone(soon); err == nil {
		t.Error("two guard daemons at once")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if release, err := s.alone(t.Context()); err != nil {
		t.Error(err)
	} else {
		release()
	}
}

// TestTells: the report says what hangs, and is written when it changes and now and then.
func TestTells(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.tells(t.Context())
	before := trace(s.file(guard.StatusFile))
	s.pass(10 * time.Second)
	if s.tells(t.Context()); trace(s.file(guard.StatusFile)) != before {
		t.Error("written without a change")
	}
	s.pass(25 * time.Second)
	if s.tells(t.Context()); trace(s.file(guard.StatusFile)) == before {
		t.Error("not written for half a minute")
	}
	s.since["install"] = s.Now()
	s.pass(2 * time.Minute)
	s.tells(t.Context())
	var r guard.Report
	if err := json.Unmarshal([]byte(s.text("run/plumbline/guard/status")), &r); err != nil || !strings.Contains(r.Why, "install has not returned") {
		t.Errorf("%v: %s", err, fmt.Sprint(r))
	}
}
