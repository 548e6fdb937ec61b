package plugin

import (
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

// twoSandboxes is a name that belonged to old and belongs to new.
func twoSandboxes(t *testing.T, kind, version string, mode guard.Mode) *stand {
	t.Helper()
	s := newStand(t).mode(mode)
	s.kind = kind
	s.version(version)
	s.call("ADD", "old")
	s.call("ADD", "new")
	return s
}

// What becomes of a late DEL depends on what its delegate goes by.
func TestLateDel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, version string
		mode          guard.Mode
		asked         string // kind and verb
		queued        int
		keyed         guard.Keying
	}{
		"observed":           {"calico", "v1.5.0", guard.Observe, "calico DEL", 0, guard.ByName},
		"by name":            {"calico", "v1.5.0", guard.Enforce, "", 1, guard.ByName},
		"by both":            {"calico", "v3.31.0", guard.Enforce, "calico-ipam DEL", 1, guard.ByBoth},
		"single binary":      {"calico", singleBinary + "v3.33.0", guard.Enforce, "calico-ipam DEL", 1, guard.ByBoth},
		"unknown version":    {"calico", "whatever", guard.Enforce, "calico-ipam DEL", 1, guard.ByBoth},
		"a later version":    {"calico", "v4.0.0", guard.Enforce, "calico-ipam DEL", 1, guard.ByBoth},
		"no version":         {"calico", "", guard.Enforce, "calico-ipam DEL", 1, guard.ByBoth},
		"another's":          {"scripted", "v1.5.0", guard.Enforce, "scripted DEL", 0, guard.NotKnown},
		"another's observed": {"scripted", "v1.5.0", guard.Observe, "scripted DEL", 0, guard.NotKnown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := twoSandboxes(t, c.kind, c.version, c.mode)
			if got := s.call("DEL", "old"); got.out != "" || got.code != 0 {
				t.Errorf("%+v", got)
			}
			asked := ""
			for _, h := range s.heard()[2:] {
				asked += h.Kind + " " + lookup(h.Env, "CNI_COMMAND")
				if args := lookup(h.Env, "CNI_ARGS"); h.Kind == "calico-ipam" && args != "IgnoreUnknown=1;SECRET=hush" {
					t.Errorf("it was told %s", args)
				}
			}
			if asked != c.asked || len(s.queued()) != c.queued {
				t.Errorf("asked %q, queued %+v", asked, s.queued())
			}
			events, _ := s.events()
			if e := events[2]; !e.Late || e.Rule != 5 || e.Keyed != c.keyed || !strings.Contains(e.Says, "new") {
				t.Errorf("%+v", e)
			}
			certain := c.kind == "calico" && guard.KnownVersion(strings.TrimPrefix(c.version, singleBinary))
			if e := events[2]; (e.Doubt == "") != (certain || c.mode != guard.Enforce) {
				t.Errorf("doubt %q", e.Doubt)
			}
			if s.owner("old").State != guard.Deleted || s.owner("new").State != guard.Added {
				t.Errorf("%+v\n%+v", s.owner("old"), s.owner("new"))
			}
			if got := s.call("DEL", "new"); got.code != 0 || len(s.heard()) < 3 {
				t.Errorf("the newest owner's own: %+v", got)
			}
		})
	}
}

// An error of the release by container never becomes a success.
func TestUnnamedErrorIsPassedOn(t *testing.T) {
	t.Parallel()
	s := twoSandboxes(t, "calico", "v3.31.0", guard.Enforce)
	s.acts["DEL"] = act{Out: failed, Code: 1}
	if got := s.call("DEL", "old"); got.out != failed || got.code != 1 {
		t.Errorf("%+v", got)
	}
	if len(s.queued()) != 1 || s.owner("old").State == guard.Deleted {
		t.Errorf("%+v, %+v", s.queued(), s.owner("old"))
	}
}

// Who is not on record is never late.
func TestUnknownIsForwarded(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Enforce)
	s.kind = "calico"
	s.version("v1.5.0")
	s.call("ADD", "new")
	if s.call("DEL", "from before"); s.verbs() != "ADD DEL" {
		t.Errorf("asked %s", s.verbs())
	}
	events, _ := s.events()
	if events[1].Rule != 6 || events[1].Late {
		t.Errorf("%+v", events[1])
	}
}

// Only an error that is known to be harmless, of a namespace that is gone, becomes a success,
// and only in enforce.
func TestErrorsOfDel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode guard.Mode
		msg  string
		want int
	}{
		"observed":        {guard.Observe, "resource does not exist: WorkloadEndpoint(x)", 1},
		"no endpoint":     {guard.Enforce, "resource does not exist: WorkloadEndpoint(x)", 1}, // the namespace was never seen
		"not authorized":  {guard.Enforce, "connection is unauthorized: Unauthorized", 1},
		"datastore":       {guard.Enforce, "Calico is currently not ready to process requests", 1},
		"cluster":         {guard.Enforce, "error getting ClusterInformation: dial tcp: refused", 1},
		"nothing is said": {guard.Enforce, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t).mode(c.mode)
			s.call("ADD", "c1")
			out := `{"code":100,"msg":"` + c.msg + `"}`
			s.acts["DEL"] = act{Out: out, Code: 1}
			if got := s.call("DEL", "c1"); got.out != out || got.code != c.want {
				t.Errorf("%+v", got)
			}
			if o := s.owner("c1"); o.State != guard.Added || len(s.queued()) != 0 {
				t.Errorf("%+v, %+v", o, s.queued())
			}
		})
	}
}

// A DEL waits for the ADD of its own container, and ends what it runs if that is slow.
func TestDelWhileItsAddRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sleep, queued int
		verbs         string
		add           int // its exit
	}{
		"it ends":  {1500, 0, "ADD DEL", 0},
		"it hangs": {60_000, 1, "ADD DEL", 137},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t).mode(guard.Enforce)
			s.acts = map[string]act{"ADD": {Sleep: c.sleep, Child: c.sleep > 2000, Out: okResult}}
			add := s.command("ADD", "c1")
			must(t, add.Start())
			eventually(t, "it runs", func() bool { return len(s.heard()) == 1 })
			got := s.call("DEL", "c1")
			_ = add.Wait()
			if got.code != 0 || got.took > 50*time.Second || add.ProcessState.ExitCode() != c.add {
				t.Errorf("%+v; the ADD: %s", got, add.ProcessState)
			}
			h := s.heard()[0]
			eventually(t, "all are ended", func() bool { return !sandboxRuns(h.PID) && (h.Child == 0 || !sandboxRuns(h.Child)) })
			if s.verbs() != c.verbs || len(s.queued()) != c.queued {
				t.Errorf("asked %s, queued %+v", s.verbs(), s.queued())
			}
			now, err := sinceBoot()
			must(t, err)
			for _, q := range s.queued() {
				if time.Duration(q.At)*time.Second < now+2*time.Minute {
					t.Errorf("too early: %+v", q)
				}
			}
		})
	}
}
