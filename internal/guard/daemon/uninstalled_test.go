package daemon

import (
	"context"
	"errors"
	"testing"

	"plumbline.dev/plumbline/internal/guard/cniconf"
)

func TestDeletedBy(t *testing.T) {
	t.Parallel()
	const set = `{"kind":"DaemonSet","metadata":{"name":"plumbline-agent"`
	for name, c := range map[string]struct {
		status int
		body   string
		is     installation
		known  bool
	}{
		"there":           {200, set + "}}", installed, true},
		"being deleted":   {200, set + `,"deletionTimestamp":"2026-11-16T22:00:00Z"}}`, deleted, true},
		"gone":            {404, `{"kind":"Status"}`, deleted, true},
		"account gone":    {401, "", noLongerAllowed, true},
		"rights gone":     {403, "", noLongerAllowed, true},
		"overloaded":      {429, "", installed, false},
		"broken":          {500, "", installed, false},
		"another's words": {200, "<html>", installed, false},
		"another object":  {200, `{"kind":"Status"}`, installed, false},
	} {
		if got, err := deletedBy(c.status, []byte(c.body)); got != c.is || (err == nil) != c.known {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Only a guard daemon whose DaemonSet is deleted takes the guard with it.
func TestGoodbye(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		is    []installation // answers, one after the other
		err   error
		state cniconf.State
		kept  string
	}{
		"rollout":              {[]installation{installed}, nil, cniconf.Patched, "enforce\n"},
		"not known":            {[]installation{installed}, errors.New("connection refused"), cniconf.Patched, "enforce\n"},
		"deleted":              {[]installation{deleted}, nil, cniconf.Plain, "off\n"},
		"account gone":         {[]installation{noLongerAllowed, noLongerAllowed, noLongerAllowed}, nil, cniconf.Plain, "enforce\n"},
		"API server beginning": {[]installation{noLongerAllowed, noLongerAllowed, installed}, nil, cniconf.Patched, "enforce\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			n := 0
			s.Uninstalled = func(context.Context) (installation, error) { n++; return c.is[n-1], c.err }
			s.turn("enforce")
			s.goodbye()
			if s.state() != c.state || s.text("guard.mode") != c.kept {
				t.Errorf("the file is %s, and the next boot's mode %s", s.state(), s.text("guard.mode"))
			}
			s.again()
			if s.turn("enforce"); s.state() != cniconf.Patched {
				t.Errorf("installed again, and the file is %s", s.state())
			}
		})
	}
}
