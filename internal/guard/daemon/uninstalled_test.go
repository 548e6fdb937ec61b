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
		status  int
		body    string
		deleted bool
		known   bool
	}{
		"there":           {200, set + "}}", false, true},
		"being deleted":   {200, set + `,"deletionTimestamp":"2026-11-16T22:00:00Z"}}`, true, true},
		"gone":            {404, `{"kind":"Status"}`, true, true},
		"account gone":    {401, "", true, true},
		"rights gone":     {403, "", true, true},
		"overloaded":      {429, "", false, false},
		"broken":          {500, "", false, false},
		"another's words": {200, "<html>", false, false},
		"another object":  {200, `{"kind":"Status"}`, false, false},
	} {
		if got, err := deletedBy(c.status, []byte(c.body)); got != c.deleted || (err == nil) != c.known {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Only a guard daemon whose DaemonSet is deleted takes the guard with it.
func TestGoodbye(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gone  bool
		err   error
		state cniconf.State
	}{
		"rollout":     {false, nil, cniconf.Patched},
		"not known":   {false, errors.New("connection refused"), cniconf.Patched},
		"uninstalled": {true, nil, cniconf.Plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			s.Uninstalled = func(context.Context) (bool, error) { return c.gone, c.err }
			s.turn("enforce")
			s.goodbye()
			if s.state() != c.state {
				t.Errorf("the file is %s", s.state())
			}
			s.again()
			if s.turn("enforce"); s.state() != cniconf.Patched {
				t.Errorf("installed again, and the file is %s", s.state())
			}
		})
	}
}
