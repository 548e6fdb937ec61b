package plugin

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// What is found by name waits for the name, and costs nothing meanwhile; when the name is
// free it is deleted, and the queue is empty.
func TestReplayOfALateDel(t *testing.T) {
	t.Parallel()
	for _, keyed := range []string{"name", "both"} {
		t.Run(keyed, func(t *testing.T) {
			t.Parallel()
			s := stored(t, keyed).mode(guard.Enforce)
			s.call("ADD", "c1")
			s.call("ADD", "c2-old")
			s.call("ADD", "c3")
			s.call("DEL", "c1")
			s.call("DEL", "c2-old")
			if _, r := s.replay("0s"); r.Left != 2 || r.Done+r.Waiting != 0 {
				t.Errorf("before its time: %+v", r)
			}
			// Once more by container, then only a look.
			for i, ahead := range []string{"2m", "10m", "1h"} {
				before := len(s.heard())
				_, r := s.replay(ahead)
				calls := map[string]int{"name": 0, "both": 2}[keyed]
				if i > 0 {
					calls = 0
				}
				if len(s.heard())-before != calls {
					t.Errorf("%s later it was asked %d times", ahead, len(s.heard())-before)
				}
				want := replayed{Waiting: 2}
				if i > 0 { // two of one name wait for the same
					want = replayed{Waiting: 1, Done: 2 - i}
				}
				if r.Waiting != want.Waiting || r.Done != want.Done || !strings.Contains(fmt.Sprint(r.Why), "late: ") {
					t.Errorf("%s later: %+v, want %+v", ahead, r, want)
				}
			}
			held := s.has.held()
			if _, ok := held["c3"]; !ok || keyed == "both" && len(held) != 2 {
				t.Errorf("held: %v", held)
			}
			s.call("DEL", "c3")
			s.mode(guard.Observe) // what was promised is done all the same
			if _, r := s.replay("5h"); r.Done != 1 || r.Waiting != 0 || len(s.queued()) != 0 || len(s.has.held()) != 0 {
				t.Errorf("the name is free: %+v, queued %+v, held %v", r, s.queued(), s.has.held())
			}
			_, lines := s.events()
			last := lines[len(lines)-1]
			if last.What != "REPLAY" || !strings.Contains(last.Note, "queued DEL: ") {
				t.Errorf("%+v", last)
			}
		})
	}
}

// The pod of a DEL that comes late may live on another node, of which this one knows
// nothing: whoever finds by name is not told it.
func TestReplayTellsNoName(t *testing.T) {
	t.Parallel()
	for keyed, calls := range map[string]int{"name": 0, "both": 1} {
		t.Run(keyed, func(t *testing.T) {
			t.Parallel()
			s := stored(t, keyed).mode(guard.Enforce)
			must(t, s.db().Queue(guard.QueuedDel{Call: guard.Call{Verb: guard.Del, Network: "net", Container: "c1", IfName: "eth0", Namespace: "ns", Pod: "web-0"}, Why: "test"}))
			_, r := s.replay("0s")
			if r.Done != 1 || len(s.queued()) != 0 {
				t.Errorf("%+v, queued %+v", r, s.queued())
			}
			asked := slices.DeleteFunc(s.heard(), func(h heard) bool { return !slices.Contains(h.Env, "CNI_COMMAND=DEL") })
			if len(asked) != calls || strings.Contains(fmt.Sprint(asked), "K8S_POD_NAME") {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

// The delegate is asked as a runtime would have asked it.
func TestReplayAsARuntime(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	s.acts = map[string]act{"ADD": {Out: failed, Code: 1}, "DEL": {Out: failed, Code: 1}}
	s.call("ADD", "c1")
	s.acts["DEL"] = act{}
	if got, r := s.replay("0s", "OTHER=x", "PATH=/p"); got.code != 0 || r.Done != 1 || len(s.queued()) != 0 || s.owner("c1").State != guard.Deleted {
		t.Fatalf("%+v, queued %+v, %+v", got, s.queued(), s.owner("c1"))
	}
	h := s.heard()[2]
	for _, v := range []string{
		"CNI_COMMAND=DEL", "CNI_CONTAINERID=c1", "CNI_IFNAME=eth0", "CNI_NETNS=", "PATH=/p",
		"CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web-0;K8S_POD_INFRA_CONTAINER_ID=c1;K8S_POD_UID=u-c1",
	} {
		if !slices.Contains(h.Env, v) {
			t.Errorf("its environment has no %s", v)
		}
	}
	if strings.Contains(fmt.Sprint(h.Env), "OTHER") || !strings.Contains(h.Stdin, `"name":"net"`) || !strings.Contains(h.Stdin, `"cniVersion":"0.3.1"`) || !strings.Contains(h.Stdin, `"type":"scripted"`) {
		t.Errorf("%+v", h)
	}
}

// What does not succeed is put off, twice as long each time; that nothing is there is success.
func TestReplayIsPutOff(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	s.acts = map[string]act{"ADD": {Out: failed, Code: 1}, "DEL": {Out: failed, Code: 1}}
	s.call("ADD", "c1")
	last := s.queued()[0].At
	for i, want := range []int64{60, 120, 240, 480, 960, 1800, 1800} {
		ahead := fmt.Sprintf("%dh", i)
		now, err := sinceBoot()
		must(t, err)
		got, r := s.replay(ahead)
		q := s.queued()
		if got.code != 0 || r.Waiting != 1 || len(r.Why) != 1 || !strings.Contains(r.Why[0], "no address") || len(q) != 1 {
			t.Fatalf("%+v, %+v", got, q)
		}
		pause := q[0].At - int64(now.Seconds()) - int64(i)*3600
		if pause < want-1 || pause > want+20 || q[0].At <= last {
			t.Errorf("put off by %d s, want %d", pause, want)
		}
		last = q[0].At
	}
	s.acts["DEL"] = act{Out: `{"code":999,"msg":"resource does not exist: WorkloadEndpoint(x)"}`, Code: 1}
	if _, r := s.replay("20h"); r.Done != 1 || len(s.queued()) != 0 {
		t.Errorf("%+v", r)
	}
}

// Without the guard's entry nothing is done, and it is said why. The plugin that this node's
// guard stands for will do.
func TestReplayConfigurations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config, kind, trouble string
		waits                 bool
	}{
		"empty":         {"", "", "EOF", false},
		"half":          {`{"name":"net","plugins":[{"type":`, "", "unexpected EOF", false},
		"no plugins":    {`{"name":"net","plugins":{}}`, "", "plugins", false},
		"another's":     {`{"name":"net","plugins":[{"type":"scripted"}]}`, "", "no entry", false},
		"single":        {`{"name":"net","type":"plumbline-cni","delegate":{"type":"scripted"}}`, "", "", false},
		"in a list":     {`{"name":"net","cniVersion":"1.0.0","plugins":[{"type":"plumbline-cni","name":"x","delegate":{"type":"scripted"}}]}`, "", "", false},
		"plain":         {`{"name":"net","plugins":[{"type":"scripted"}]}`, "scripted", "", false},
		"other network": {`{"name":"other","type":"plumbline-cni","delegate":{"type":"scripted"}}`, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t).mode(guard.Enforce)
			must(t, os.WriteFile(filepath.Join(s.dir, guard.KindFile), []byte(c.kind), 0o600))
			must(t, s.db().Queue(guard.QueuedDel{Call: guard.Call{Verb: guard.Del, Network: "net", Container: "c1", IfName: "eth0"}, Why: "collected"}))
			cmd := s.command("", "")
			cmd.Args, cmd.Stdin = append(cmd.Args, "replay"), strings.NewReader(c.config)
			got := s.run(cmd)
			if (got.code != 0) != (c.trouble != "") || c.trouble != "" && !strings.Contains(got.out, c.trouble) || (len(s.queued()) == 1) != (c.trouble != "" || c.waits) {
				t.Errorf("%+v, queued %+v", got, s.queued())
			}
		})
	}
}

// A DEL is not carried out for whoever was added again, nor while its own ADD runs, nor of
// an unknown container whose name has an owner.
func TestReplayHarmsNobody(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	queue := func(id string) {
		must(t, s.db().Queue(guard.QueuedDel{Call: guard.Call{Verb: guard.Del, Network: "net", Container: id, IfName: "eth0", Namespace: "ns", Pod: "web-0"}, Why: "test"}))
	}
	s.acts["ADD"] = act{Sleep: 20_000}
	add := s.command("ADD", "c1")
	must(t, add.Start())
	eventually(t, "it runs", func() bool { return len(s.heard()) == 1 })
	queue("c1")
	queue("unknown")
	if _, r := s.replay("0s"); r.Waiting != 2 || r.Done != 0 || s.verbs() != "ADD" || !strings.Contains(fmt.Sprint(r.Why), "the ADD of the same container is running") {
		t.Errorf("%+v, asked %s", r, s.verbs())
	}
	must(t, add.Process.Kill())
	_ = add.Wait()
	s.acts["ADD"] = act{}
	s.call("ADD", "c1") // again, against the protocol
	if q := s.queued(); len(q) != 1 || q[0].Container != "unknown" {
		t.Errorf("queued %+v", q)
	}
}

// forgetful is a book whose queue has changed since it was read.
type forgetful struct{ ownerDB }

func (forgetful) IsQueued(guard.QueuedDel) bool { return false }

// Whoever was added again while the queue was read owes nothing.
func TestReplayLooksAgain(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	queued(s)
	var out strings.Builder
	code := Replay(World{
		Env: []string{"CNI_PATH=" + s.bin}, Stdin: bytes.NewReader(s.entry()), Stdout: &out, Stderr: &out, Dir: s.dir, Now: time.Now, //nolint:forbidigo // as the program
		open: func(string) (ownerDB, error) { return forgetful{s.db()}, nil },
	})
	if code != 0 || s.verbs() != "ADD" {
		t.Errorf("%d, %s, asked %s", code, out.String(), s.verbs())
	}
}

// One that hangs is put off, and holds up the others for no longer than the time of one.
func TestReplayIsBounded(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	for i := range 3 {
		must(t, s.db().Queue(guard.QueuedDel{Call: guard.Call{Network: "net", Container: fmt.Sprint("c", i), IfName: "eth0"}, Why: "test"}))
	}
	s.acts["DEL"] = act{Sleep: 60_000}
	if got, r := s.replay("0s", "TEST_PATIENCE=8s"); got.code != 0 || r.Waiting != 1 || r.Left != 2 || len(s.heard()) != 1 {
		t.Errorf("%+v", got)
	}
	s.acts["DEL"] = act{}
	if _, r := s.replay("0s"); r.Done != 2 || r.Left != 1 {
		t.Errorf("%+v", r)
	}
}

func FuzzListed(f *testing.F) {
	f.Add([]byte(`{"name":"n","plugins":[{"type":"a"},{"type":"plumbline-cni","delegate":{"type":"a"}}]}`))
	f.Add([]byte(`{"plugins":[{"type":"a"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := entryOf(b, "a"); err == nil && properType(e.kind) != nil {
			t.Fatalf("%+v", e)
		}
	})
}
