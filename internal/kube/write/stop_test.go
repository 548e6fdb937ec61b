package write

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The switch is believed for two seconds, whichever way it stands; what could not be seen
// is not believed at all.
func TestSwitch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks, now := 0, error(nil)
		s := Switch{Stopped: func(context.Context) error { looks++; return now }}
		ask := func(want error, wantLooks int) {
			t.Helper()
			if err := s.Ask(t.Context()); !errors.Is(err, want) || looks != wantLooks {
				t.Errorf("%v after %d looks, want %v after %d", err, looks, want, wantLooks)
			}
		}
		blind := errors.New("no answer")
		ask(nil, 1)
		now = errStopped
		ask(nil, 1)
		time.Sleep(stopLook)
		ask(errStopped, 2)
		ask(errStopped, 2)
		now = blind
		time.Sleep(stopLook)
		ask(blind, 3)
		ask(blind, 4)
		now = nil
		ask(nil, 5)
	})
}

func TestStopReason(t *testing.T) {
	t.Parallel()
	for b, want := range map[string]string{
		`{"data":{"reason":"audit\u001b[2J until noon"}}`: "audit [2J until noon",
		`{"data":{}}`: "no reason given", `{}`: "no reason given", `{`: "no reason given", `{"data":{"reason":7}}`: "no reason given",
	} {
		if got := reason([]byte(b)); got != want {
			t.Errorf("%s: %q", b, got)
		}
	}
	if got := reason([]byte(`{"data":{"reason":"` + strings.Repeat("x", 1<<20) + `"}}`)); len(got) > 1<<10 {
		t.Errorf("%d bytes", len(got))
	}
}

// Who cannot see the switch must not take it for open.
func TestSwitchUnseen(t *testing.T) {
	t.Parallel()
	none := strings.ReplaceAll(notFound, "db-0", stopName)
	for name, c := range map[string]struct {
		answers []said
		want    string
	}{
		"in neither":        {[]said{{404, none, ""}, {404, none, ""}}, ""},
		"in the second":     {[]said{{404, none, ""}, {200, `{"data":{"reason":"audit"}}`, ""}}, "stopped by ConfigMap kube-system/plumbline-stop: audit"},
		"in the first":      {[]said{{200, `{}`, ""}}, "stopped by ConfigMap plumbline-system/plumbline-stop: no reason"},
		"forbidden":         {[]said{{404, none, ""}, {403, "", ""}}, "read the kill switch"},
		"a proxy's 404":     {[]said{{404, "404 page not found", ""}}, "read the kill switch"},
		"nobody is at home": {[]said{{500, "", ""}}, "read the kill switch"},
	} {
		w, _ := answers(t, c.answers...)
		err := w.Stop(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || errors.Is(err, errStopped) != strings.HasPrefix(c.want, "stopped") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where agents are elsewhere, a switch in the usual namespace counts too, if the user may see it.
func TestSwitchInTheUsualNamespace(t *testing.T) {
	t.Parallel()
	none := strings.ReplaceAll(notFound, "db-0", stopName)
	for name, c := range map[string]struct {
		last said
		want string
	}{
		"not there": {said{404, none, ""}, ""},
		"unseen":    {said{403, "", ""}, ""},
		"set":       {said{200, `{"data":{"reason":"audit"}}`, ""}, "stopped by ConfigMap plumbline-system/plumbline-stop: audit"},
		"no answer": {said{500, "", ""}, "read the kill switch"},
	} {
		w, _ := answers(t, said{404, none, ""}, said{404, none, ""}, c.last)
		w.namespace = "net-ops"
		err := w.Stop(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
