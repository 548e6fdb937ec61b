package daemon

import (
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

// TestReadVersion runs plugins in the shapes that were recorded of Calico's, and others.
func TestReadVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script, ipam string
		version      string
		keyed        guard.Keying
		doubt        string
	}{
		"until 3.32":        {`test "$1" = -v && echo v3.31.0`, "calico-ipam", "v3.31.0", guard.ByBoth, ""},
		"3.33":              {`test -n "$CNI_COMMAND" || { echo "Error: unknown shorthand flag: 'v' in -v" >&2; exit 1; }; test "$1" = -v && echo v3.33.0`, "calico-ipam", "v3.33.0", guard.ByBoth, ""},
		"with host-local":   {`echo v3.31.0`, "host-local", "v3.31.0", guard.ByContainer, ""},
		"before 2018":       {`echo v1.5.0`, "calico-ipam", "v1.5.0", guard.ByName, ""},
		"no such flag":      {`exit 1`, "calico-ipam", "", guard.ByBoth, "does not report its version: the guard assumes"},
		"says nothing":      {`true`, "host-local", "", guard.NotKnown, "does not report its version: late DELs are passed on"},
		"of a branch":       {`echo master`, "calico-ipam", "", guard.ByBoth, `reports the unknown version "master"`},
		"answers as a shim": {`echo '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}'`, "calico-ipam", "", guard.ByBoth, "the unknown version"},
		"hostile":           {`head -c 100000 /dev/zero | tr '\0' x; echo`, "calico-ipam", "", guard.ByBoth, "the unknown version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			s.write(netFile, strings.Replace(plainList, "calico-ipam", test.ipam, 1), 0o600)
			s.write("opt/real/calico", "#!/bin/sh\n"+test.script, 0o755)
			at := s.scripted("/", "")
			s.readVersion(t.Context(), &at, cniconf.NewFile(s.path(netFile), "k8s-pod-network"))
			r := s.report
			if r.Version != test.version || r.Keyed != test.keyed || (r.Doubt == "") != (test.doubt == "") || !strings.Contains(r.Doubt, test.doubt) || len(r.Doubt) > 400 {
				t.Errorf("%q by %s: %s", r.Version, r.Keyed, r.Doubt)
			}
		})
	}
}

// A plugin that did not answer is asked again, also if its program did not change; one that
// answered is not.
func TestReadVersionAgain(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.write("opt/real/calico", "#!/bin/sh\ncat "+s.path("version"), 0o755)
	at := s.scripted("/", "")
	f := cniconf.NewFile(s.path(netFile), "k8s-pod-network")
	s.readVersion(t.Context(), &at, f)
	if s.report.Doubt == "" {
		t.Errorf("%+v", s.report)
	}
	s.write("version", "v3.31.0\n", 0o644)
	s.readVersion(t.Context(), &at, f)
	if s.report.Doubt == "" {
		t.Error("it was asked again at once")
	}
	s.pass(versionRetry)
	s.readVersion(t.Context(), &at, f)
	if s.report.Doubt != "" || s.report.Version != "v3.31.0" {
		t.Errorf("%+v", s.report)
	}
	s.write("version", "v3.32.0\n", 0o644)
	s.pass(10 * versionRetry)
	if s.readVersion(t.Context(), &at, f); s.report.Version != "v3.31.0" {
		t.Errorf("a known version was asked for again: %s", s.report.Version)
	}
	at.on = false
	if s.readVersion(t.Context(), &at, f); s.report.Version+s.report.Doubt+string(s.report.Keyed) != "" {
		t.Errorf("of a guard that is not there: %+v", s.report)
	}
}
