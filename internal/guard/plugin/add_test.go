package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

const failed = `{"cniVersion":"0.3.1","code":999,"msg":"no address\nsecond line"}`

func TestAddIsRecorded(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Observe)
	if got := s.call("ADD", "c1"); got.out != okResult {
		t.Fatalf("%+v", got)
	}
	o := s.owner("c1")
	if o == nil || o.State != guard.Added || o.Seq != 1 || o.Device != "cali1" || len(o.IPs) != 1 || o.IPs[0].String() != "10.0.0.7/32" ||
		o.Pod != "web-0" || o.Namespace != "ns" || o.UID != "u-c1" || o.PID == 0 || o.Start == 0 {
		t.Errorf("%+v", o)
	}
	if got := s.call("DEL", "c1"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if o := s.owner("c1"); o == nil || o.State != guard.Deleted {
		t.Errorf("%+v", o)
	}
	events, lines := s.events()
	if len(events) != 2 || lines[0].By != "guard" || lines[0].Of != "cni" || lines[0].What != "ADD" || lines[1].What != "DEL" || lines[0].Name != "ns/web-0" ||
		events[0].Container != "c1" || events[0].Rule != 1 || events[1].Rule != 4 || !events[0].Called || len(events[0].Trouble) != 1 { // there is no namespace
		t.Errorf("%+v", lines)
	}
}

// A failed ADD is cleaned once, in enforce only, and its error is the answer.
func TestFailedAdd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode   guard.Mode
		del    act
		verbs  string
		queued int
	}{
		"observe":         {guard.Observe, act{}, "ADD", 0},
		"enforce":         {guard.Enforce, act{}, "ADD DEL", 0},
		"and its DEL too": {guard.Enforce, act{Code: 1, Out: failed}, "ADD DEL", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t).mode(c.mode)
			s.acts = map[string]act{"ADD": {Out: failed, Code: 3}, "DEL": c.del}
			s.conf["prevResult"] = map[string]any{}
			if got := s.call("ADD", "c1"); got.out != failed || got.code != 3 {
				t.Errorf("%+v", got)
			}
			if s.verbs() != c.verbs || len(s.queued()) != c.queued || s.owner("c1").State != guard.Failed {
				t.Errorf("asked %s, queued %v, %+v", s.verbs(), s.queued(), s.owner("c1"))
			}
			events, _ := s.events()
			if e := events[0]; e.Rule != 2 || e.Error != "no address" || e.Code != 3 {
				t.Errorf("%+v", e)
			}
			if h := s.heard(); len(h) > 1 && strings.Contains(h[1].Stdin, "prevResult") {
				t.Error("the DEL was given what the ADD was to continue")
			}
		})
	}
}

// An ADD that is repeated and fails is not cleaned: the first one's pod may live.
func TestSecondAddIsNotCleaned(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	s.call("ADD", "c1")
	s.call("ADD", "c1")
	if events, _ := s.events(); events[1].Rule != 3 {
		t.Errorf("%+v", events[1])
	}
	s.acts = map[string]act{"ADD": {Out: failed, Code: 1}}
	if got := s.call("ADD", "c1"); got.out != failed {
		t.Errorf("%+v", got)
	}
	if s.verbs() != "ADD ADD ADD" || len(s.queued()) != 0 {
		t.Errorf("asked %s, queued %v", s.verbs(), s.queued())
	}
}

// An ADD that is ended on its deadline is cleaned, and once more later: calico-ipam may
// still assign.
func TestSlowAddIsCleanedTwice(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	s.acts = map[string]act{"ADD": {Sleep: 60_000}}
	s.call("ADD", "c1", "TEST_PATIENCE=8s")
	now, err := sinceBoot()
	must(t, err)
	q := s.queued()
	if s.verbs() != "ADD DEL" || len(q) != 1 || q[0].At < int64(now.Seconds())+mayFinish.Milliseconds()/1000-10 || q[0].Verb != guard.Del || q[0].Container != "c1" {
		t.Errorf("asked %s, queued %+v", s.verbs(), q)
	}
}

// Nothing of the configuration, of the arguments or of an error's credentials is kept.
func TestNothingSecretIsKept(t *testing.T) {
	t.Parallel()
	const token = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJl"
	s := newStand(t).mode(guard.Enforce)
	msg, err := json.Marshal(map[string]any{"code": 1, "msg": "the server said no to Bearer " + token})
	must(t, err)
	s.acts = map[string]act{"ADD": {Out: string(msg), Err: "stderr " + token, Code: 1}}
	s.conf["k8s_auth_token"] = token
	s.log = t.TempDir() // the delegate's own, not looked at
	s.call("ADD", "c1")
	s.call("DEL", "c1")
	seen := 0
	must(t, filepath.WalkDir(s.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		seen += len(b)
		for _, secret := range []string{token[:30], "hush", "k8s_auth_token", "stderr"} {
			if strings.Contains(string(b), secret) {
				t.Errorf("%s holds %s", p, secret)
			}
		}
		return err
	}))
	if seen < 500 {
		t.Errorf("only %d bytes were looked at", seen)
	}
}
