package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// A change that is told is read soon, what is asked for anew is read anew, what hangs holds
// up nothing else, and when it is over nothing of the agent is left but what hangs.
func TestAgentKeepsAndEnds(t *testing.T) {
	none := goleak.IgnoreCurrent()
	var index atomic.Int64
	hangs := make(chan struct{})
	tell := make(chan func(...model.Table), 1)
	dir := t.TempDir()
	s := New(Config{
		Node: "n1", Version: "v", Record: dir, Log: slog.New(slog.DiscardHandler), Now: now,
		Collectors: []observe.NodeCollector{
			{Name: "links", Tables: []model.Table{model.Links}, Read: func(_ context.Context, f *model.NodeState) error {
				f.Links = []model.Link{{Index: int(index.Load())}}
				return nil
			}},
			{Name: "mounts", Tables: []model.Table{model.Mounts}, Read: func(context.Context, *model.NodeState) error {
				<-hangs
				return nil
			}},
		},
		Watch: []func(context.Context, func(...model.Table)) error{func(ctx context.Context, changed func(...model.Table)) error {
			tell <- changed
			<-ctx.Done()
			return nil
		}},
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	await := func(what string, n int) {
		t.Helper()
		var links []model.Link
		for end := now().Add(time.Minute); now().Before(end); time.Sleep(time.Millisecond) {
			if links = s.store.snapshot(now(), model.Links).NodeState["n1"].Links; len(links) == 1 && links[0].Index == n {
				return
			}
		}
		t.Fatalf("%s: %v, want link %d", what, links, n)
	}
	await("at the beginning", 0)
	index.Store(1)
	changed := <-tell
	changed(model.Routes) // of another table
	time.Sleep(100 * time.Millisecond)
	await("what nobody told", 0)
	changed(model.Links)
	await("a change that was told", 1)
	index.Store(2)
	late := s.refresh(ctx, model.Links)
	for try := 0; len(late) != 0 && try < 20; try++ {
		late = s.refresh(ctx, model.Links)
	}
	if len(late) != 0 {
		t.Errorf("not in time: %v", late)
	}
	await("asked for anew", 2)
	began := now()
	if late := s.refresh(ctx); len(late) != 1 || late[model.Mounts] != freshWithin || now().Sub(began) > freshWithin+30*time.Second {
		t.Errorf("late %v after %s", late, now().Sub(began))
	}
	cancel()
	close(hangs)
	<-done
	goleak.VerifyNone(t, none)
	var record []string
	if _, err := eventlog.Read(dir, func(e eventlog.Entry) error {
		record = append(record, e.What+" "+e.Of+" "+e.Name)
		return nil
	}); err != nil || fmt.Sprint(record) != "[new links 1 gone links 0 new links 2 gone links 1]" {
		t.Errorf("recorded %q, %v", record, err)
	}
}
