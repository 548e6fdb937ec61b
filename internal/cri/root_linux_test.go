package cri

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

func collector(t *testing.T, c *Client, root string) (*model.NodeState, time.Duration, error) {
	t.Helper()
	f := &model.NodeState{}
	began := time.Now() //nolint:forbidigo // how long it takes is what is tested
	err := c.Collectors(root)[0].Read(t.Context(), f)
	return f, time.Since(began), err
}

// A runtime that is frozen is told of, in time; and it is asked again when it is back.
func TestRootFrozenRuntime(t *testing.T) {
	t.Parallel()
	d := start(t, "/usr/bin")
	c := d.open()
	f, took, err := collector(t, c, d.root)
	if err != nil || len(f.Runtimes) != 4 || len(f.Sandboxes) != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	t.Logf("empty: %s, %+v", took, f.Runtimes)
	for _, r := range f.Runtimes {
		if r.Error != "" || r.Millis > 1900 {
			t.Errorf("healthy: %+v", r)
		}
	}
	if !strings.HasPrefix(f.Runtimes[0].Name, "containerd ") {
		t.Errorf("name: %q", f.Runtimes[0].Name)
	}
	if dir, err := c.CNIDirectory(t.Context()); err != nil || dir != d.dir+"/net.d" {
		t.Errorf("CNI directory: %q %v", dir, err)
	}

	changes := make(chan struct{}, 8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { _ = c.Watch(ctx, func() { changes <- struct{}{} }) }()
	time.Sleep(2 * time.Second) // the first look is made

	freeze(t, d.pid)
	for range 2 { // with a connection that was alive, and again
		f, took, err = collector(t, c, d.root)
		var blind observe.TableErrors
		if !errors.As(err, &blind) || blind[model.Sandboxes] == nil || blind[model.Containers] == nil || blind[model.Runtimes] != nil {
			t.Errorf("frozen: %v", err)
		}
		if took > 20*time.Second { // 2 s on a machine that is not busy
			t.Errorf("frozen: took %s", took)
		}
		for _, r := range f.Runtimes {
			if r.Error != errSilent.Error() || r.Millis < 1500 {
				t.Errorf("frozen: %+v", r)
			}
		}
	}
	t.Logf("frozen: %s, %+v", took, f.Runtimes)
	fresh := d.open() // nobody was connected before
	if f, took, err = collector(t, fresh, d.root); err == nil || took > 20*time.Second || f.Runtimes[0].Error == "" {
		t.Errorf("frozen from the first: %v in %s, %+v", err, took, f.Runtimes)
	}
	body := observe.NodeReader{Node: "n", Within: 10 * time.Second, Collectors: c.Collectors("")}
	facts, seen := body.Read(t.Context())
	if len(facts.Runtimes) != 4 {
		t.Errorf("a body with as little time loses what was learned: %+v", seen)
	}
	await(t, changes, "the silence")

	d.signal(syscall.SIGCONT)
	for _, c := range []*Client{c, fresh} {
		for try := range 30 { // whose connection was lost on the way tries again within a second
			if f, took, err = collector(t, c, d.root); err == nil && f.Runtimes[2].Error == "" {
				break
			}
			if time.Sleep(time.Second); try == 29 {
				t.Errorf("thawed: %v in %s, %+v", err, took, f.Runtimes)
			}
		}
	}
	await(t, changes, "the return")
}

func await(t *testing.T, changes <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-changes:
	case <-time.After(time.Minute):
		t.Errorf("nobody noticed %s", what)
	}
}

func TestNoRuntime(t *testing.T) {
	t.Parallel()
	c := Open(t.TempDir(), At("/none.sock"))
	defer func() { _ = c.Close() }()
	f, took, err := collector(t, c, "")
	// Our own blindness is not said to be the runtime's.
	if err == nil || len(f.Runtimes) != 0 || !strings.Contains(err.Error(), "at /none.sock: no such file") || took > 20*time.Second {
		t.Errorf("%v in %s, %+v", err, took, f.Runtimes)
	}
	if dir, err := c.CNIDirectory(t.Context()); err == nil {
		t.Errorf("CNI directory of nothing: %s", dir)
	}
}
