package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// The process of a recorded incident: the leader is a zombie, one thread waits for a dead mount.
func TestZombieWithThreads(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.put(31238, "java", 'Z', 'D', 'S')
	tr.file(31238, "task/31239/wchan", "request_wait_answer")
	tr.file(31238, "task/31239/cgroup", "0::/kubepods/pod"+uidA+"/"+cidA+"\n")
	tr.file(31238, "task/31239/mountinfo", "1 0 0:1 / / rw - overlay overlay rw\n2 1 0:52 / /data rw - fuse.glusterfs g:/vol rw\n")
	tr.file(31238, "status", "NSpid:\t31238\t1\n")
	if err := os.MkdirAll(filepath.Join(tr.dir, "31238/task/31239/fd"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/data/file", filepath.Join(tr.dir, "31238/task/31239/fd/7")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(tr.dir, "31238/ns/net")); err != nil {
		t.Fatal(err)
	}
	p, ok := tr.look(h, 0)[31238]
	want := []model.Thread{{TID: 31239, State: "D", Waits: "request_wait_answer"}, {TID: 31240, State: "S"}}
	if !ok || p.Why != "zombie" || p.State != "Z" || !slices.Equal(p.Threads, want) || p.Container != cidA || p.PodUID != uidA || !p.Init ||
		p.NSLinks != "no such file or directory" || !slices.Equal(p.Files, []string{"/data"}) || p.Parent != 1 {
		t.Errorf("got %+v", p)
	}
}

// An ordinary zombie is gone in the next look, and ordinary disk I/O runs in between.
func TestPassingStatesAreNotTold(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.put(10, "zombie", 'Z')
	tr.put(20, "disk", 'D')
	tr.put(30, "busy", 'D')
	tr.put(40, "inner", 'Z')
	tr.file(40, "status", "NSpid:\t40\t1\n") // the first of its namespace: its container ends with it
	tr.put(50, "killed", 'S', 'D')
	tr.file(50, "task/51/status", "NSpid:\t51\nShdPnd:\t0000000000000100\n")
	got := tr.look(h, 0)
	if len(got) != 2 || got[40].Why != "zombie" || !got[40].Init || got[50].Why != "unkillable" {
		t.Errorf("first look: %+v", got)
	}
	if got := tr.look(h, time.Millisecond); len(got) != 2 {
		t.Errorf("at once again: %+v", got)
	}
	tr.file(30, "task/30/status", "voluntary_ctxt_switches:\t6\n") // it has run meanwhile
	got = tr.look(h, time.Second)
	if len(got) != 4 || got[10].Why != "zombie" || got[20].Why != "unkillable" || got[30].PID != 0 {
		t.Errorf("later: %+v", got)
	}
	// Not seen in between means that it was not stuck.
	if err := os.RemoveAll(filepath.Join(tr.dir, "10")); err != nil {
		t.Fatal(err)
	}
	tr.look(h, time.Second)
	tr.put(10, "zombie", 'Z')
	if got := tr.look(h, time.Second); got[10].PID != 0 {
		t.Errorf("another zombie: %+v", got[10])
	}
}

const call = "CNI_COMMAND=ADD\x00CNI_CONTAINERID=" + cidA + "\x00"

func TestCNICalls(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.put(100, "calico", 'S')
	tr.file(100, "environ", call)
	tr.put(200, "containerd", 'S')
	tr.put(300, "kworker", 'S')
	got, err := h.CNICalls(t.Context())
	if err != nil || len(got) != 1 || got[0].PID != 100 || got[0].Command != "ADD" || got[0].CNI != cidA || got[0].Why != "cni" {
		t.Fatalf("got %+v, %v", got, err)
	}
	// A child of the runtime that has become a plugin is asked again, though its number is the same.
	tr.put(200, "calico-ipam", 'S')
	tr.file(200, "environ", call)
	// One that has fallen into D is what it was.
	tr.put(100, "calico", 'D')
	if got, err = h.CNICalls(t.Context()); err != nil || len(got) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if look := tr.look(h, 0); look[200].Why != "cni" || look[100].Command != "ADD" {
		t.Errorf("look: %+v", look)
	}
	// It has ended.
	tr.put(200, "calico-ipam", 'Z')
	if got, err = h.CNICalls(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Who could not be asked may be a call: that is said, and no memory is touched.
func TestUnaskedIsNotAbsent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(tr *tree)
		err  error
	}{
		"in D on the host":    {func(tr *tree) { tr.put(100, "calico", 'D') }, observe.ErrPartial},
		"a thread in D":       {func(tr *tree) { tr.put(100, "calico", 'S', 'D') }, observe.ErrPartial},
		"in D in a container": {func(tr *tree) { tr.put(100, "java", 'D'); tr.file(100, "status", "NSpid:\t100\t7\n") }, nil},
		"much, in a container": {func(tr *tree) {
			tr.put(100, "x", 'S')
			tr.file(100, "status", "NSpid:\t100\t7\n")
			tr.file(100, "environ", string(make([]byte, maxEnviron+1)))
		}, nil},
		"too much of it": {func(tr *tree) { tr.put(100, "x", 'S'); tr.file(100, "environ", string(make([]byte, maxEnviron+1))) }, observe.ErrPartial},
	} {
		tr, h := newTree(t)
		c.make(tr)
		tr.file(100, "comm", "")
		if got, err := h.CNICalls(t.Context()); len(got) != 0 || !errors.Is(err, c.err) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		if k := h.known[100]; k.name != "" {
			t.Errorf("%s: its memory was read: %+v", name, k)
		}
	}
}

func TestWhatIsKnownIsForgotten(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	for pid := 100; pid < 200; pid++ {
		tr.put(pid, "x", 'S')
	}
	tr.look(h, 0)
	for pid := 100; pid < 200; pid++ {
		if err := os.RemoveAll(filepath.Join(tr.dir, strconv.Itoa(pid))); err != nil {
			t.Fatal(err)
		}
	}
	before := len(h.known)
	tr.look(h, 0)
	if before < 100 || len(h.known) > 1 {
		t.Errorf("known %d, then %d", before, len(h.known))
	}
}

// A process whose memory never answers costs one read, not one per look.
func TestMemoryThatHangs(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.put(100, "x", 'S')
	hangs := make(chan answer)
	h.unread[filepath.Join(tr.dir, "100/environ")] = hanging{done: hangs}
	var f model.NodeState
	if err := h.readProcesses(t.Context(), &f); !errors.Is(err, observe.ErrPartial) || !errors.Is(err, errUnread) {
		t.Errorf("got %v", err)
	}
	close(hangs)
	if err := h.readProcesses(t.Context(), &f); err != nil || len(h.unread) != 0 {
		t.Errorf("it has come back: %v, %d", err, len(h.unread))
	}
}

func TestNoProcfs(t *testing.T) {
	t.Parallel()
	h := New(Options{Proc: t.TempDir()})
	for _, s := range h.Collectors() {
		if s.Name == "cni" {
			continue
		}
		if err := s.Read(t.Context(), &model.NodeState{}); err == nil {
			t.Errorf("%s: an empty procfs is no answer", s.Name)
		}
	}
}
