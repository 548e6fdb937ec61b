package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

// Who does not answer holds up nobody; who speaks of another node is not believed; and an
// agent that does not know the question is told from one that does not answer.
func TestGuards(t *testing.T) {
	t.Parallel()
	report := &guard.Report{Node: "good", At: now, Mode: guard.Observe}
	answers := map[string]any{
		"good": agent.GuardStatus{Node: "good", Taken: now.Add(time.Minute), Report: report},
		"bare": agent.GuardStatus{Node: "bare", Taken: now},
		"liar": agent.GuardStatus{Node: "good", Report: report},
		"half": agent.GuardStatus{Node: "half", Report: report},
		"odd":  []int{1},
	}
	f := &agent.Fleet{Open: func(ctx context.Context, node, path string, _ url.Values) (io.ReadCloser, error) {
		switch {
		case path != agent.PathGuard:
			t.Errorf("asked for %s", path)
		case node == "old":
			return nil, errors.New("ask the agent of old: not there: 404 page not found")
		case node == "hangs":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		b, err := json.Marshal(answers[node])
		return io.NopCloser(strings.NewReader(string(b))), err
	}}
	all, silent := f.Guards(t.Context(), []string{"bare", "good", "half", "hangs", "liar", "odd", "old"})
	if len(all) != 2 || all["bare"].Report != nil || all["good"].Report.Mode != guard.Observe {
		t.Errorf("said: %+v", all)
	}
	if g := all["good"]; g.Age() != time.Minute {
		t.Errorf("it is %s old", g.Age())
	}
	for node, says := range map[string]string{"half": "another node", "liar": "another node", "hangs": "no answer in", "odd": "cannot unmarshal", "old": agent.ErrOlder.Error()} {
		if err := silent[node]; err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", node, err)
		}
	}
	if !errors.Is(silent["old"], agent.ErrOlder) || errors.Is(silent["hangs"], agent.ErrOlder) {
		t.Errorf("who is old: %v", silent)
	}
}

// Of a event log only the guard's lines are calls, whoever hands out more.
func TestGuardCalls(t *testing.T) {
	t.Parallel()
	row, err := json.Marshal(guard.Event{Key: guard.Key{Container: "c"}, Pod: "db-0", Namespace: "shop", Rule: 5, Late: true})
	if err != nil {
		t.Fatal(err)
	}
	entries := []eventlog.Entry{
		{At: now.Add(-time.Hour), By: "guard", Of: "cni", What: "DEL", Now: row}, // an older agent knows no since
		{At: now, By: "agent", Of: "links", What: "new", Now: json.RawMessage(`{}`)},
		{At: now.Add(time.Second), By: "guard", Of: "cni", What: "DEL", Now: row},
		{At: now.Add(time.Second), By: "guard", Of: "cni", What: "DEL", Now: json.RawMessage(`[]`)},
	}
	f := &agent.Fleet{Open: func(_ context.Context, _, _ string, q url.Values) (io.ReadCloser, error) {
		if q.Get("by") != "guard" || q.Get("about") != "shop/db-0" || q.Get("since") != now.UTC().Format(time.RFC3339Nano) {
			t.Errorf("asked: %v", q)
		}
		b, err := json.Marshal(entries)
		return io.NopCloser(strings.NewReader(string(b))), err
	}}
	all, silent := f.GuardCalls(t.Context(), []string{"n1"}, agent.CallQuestion{About: "shop/db-0", Since: now})
	want := []agent.GuardCall{{Node: "n1", At: now.Add(time.Second).UTC(), Verb: guard.Del, Event: guard.Event{Key: guard.Key{Container: "c"}}}}
	same := func(a, b agent.GuardCall) bool {
		return a.Node == b.Node && a.At.Equal(b.At) && a.Verb == b.Verb && a.Container == b.Container && a.Rule == 5 && a.Late
	}
	if len(silent) != 0 || !slices.EqualFunc(all["n1"], want, same) {
		t.Errorf("%+v, %v", all, silent)
	}
}
