package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// look reads one sense.
func look(t *testing.T, h *Host, name string) *model.NodeState {
	t.Helper()
	var f model.NodeState
	for _, s := range h.Collectors() {
		if s.Name == name {
			if err := s.Read(t.Context(), &f); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return &f
}

func row(f *model.NodeState, pid int) model.Process {
	for _, p := range f.Processes {
		if p.PID == pid {
			return p
		}
	}
	return model.Process{}
}

func TestRootZombieLeader(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		h := g.host()
		defer h.Close()
		p := spawn(t, "leader-exit")
		eventually(t, "a zombie leader", func() bool { return row(look(t, h, "processes"), p.Pid).State == "Z" })
		got := row(look(t, h, "processes"), p.Pid)
		if got.Why != "zombie" || len(got.Threads) == 0 || got.NSLinks == "" || got.Init || got.Parent != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// Whoever waits for a server that has taken the request is told, with the mount.
func TestRootUnkillable(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		fs := mountHang(t, g.dir, "hang")
		h := g.host()
		defer h.Close()
		leader, thread := spawn(t, "statfs "+fs.dir), spawn(t, "statfs-thread "+fs.dir)
		t.Cleanup(func() { fs.abort(t, g.sys) })
		waiting := filepath.Join(g.sys, "fs/fuse/connections", fmt.Sprint(fs.minor), "waiting")
		eventually(t, "two requests", func() bool { b, _ := os.ReadFile(waiting); return strings.TrimSpace(string(b)) == "2" })
		for _, p := range []*os.Process{leader, thread} {
			if err := p.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "both to be stuck", func() bool {
			f := look(t, h, "processes")
			return row(f, leader.Pid).State == "D" && row(f, thread.Pid).State == "Z"
		})
		f := look(t, h, "processes")
		if p := row(f, leader.Pid); p.Why != "unkillable" || p.Waits != "request_wait_answer" || !slices.Equal(p.Files, []string{fs.dir, "/"}) {
			t.Errorf("leader: %+v", p)
		}
		p := row(f, thread.Pid)
		if p.Why != "zombie" || len(p.Threads) == 0 || p.Threads[0].State != "D" || p.Threads[0].Waits != "request_wait_answer" ||
			len(p.Files) == 0 || p.Files[0] != fs.dir || p.NSLinks == "" {
			t.Errorf("thread: %+v", p)
		}
		calls, err := g.host().CNICalls(t.Context()) // one that has not seen them in better days
		if !errors.Is(err, observe.ErrPartial) || len(calls) != 0 || strings.Count(err.Error(), " pid ") != 2 {
			t.Errorf("two in D could not be asked: %+v, %v", calls, err)
		}
		// From outside, without a child of ours.
		look(t, h, "mounts")
		h.children.kill()
		time.Sleep(silentAfter)
		m := look(t, h, "mounts").Mounts
		if len(m) != 1 || !m[0].Silent || m[0].Asked != byWaiting || m[0].Source != "hang" || m[0].Type != "fuse.hangtest" || !strings.HasSuffix(m[0].Server, " pid 1") {
			t.Errorf("mounts: %+v", m)
		}
	})
}

// counts is what a look may not leave behind.
func counts(t *testing.T, g ground) (children, threads, files int) {
	t.Helper()
	for _, d := range []string{g.proc + "/1/task", g.proc + "/1/fd"} {
		n, _, err := hostfile.Numbers(d, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(d, "task") {
			threads = len(n)
		} else {
			files = len(n) - 1 // the directory itself is open
		}
	}
	pids, _, _ := hostfile.Numbers(g.proc, 1<<20)
	return len(pids) - 1, threads, files
}

func TestRootHungMountsCostNothing(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		var hung []*hangfs
		for i := range 5 {
			hung = append(hung, mountHang(t, g.dir, fmt.Sprintf("hang%d", i)))
		}
		fine := mountHang(t, g.dir, "fine")
		fine.answer(true)
		h := g.host()
		check := func(how string) {
			t.Helper()
			ms := look(t, h, "mounts").Mounts
			if len(ms) != 6 {
				t.Fatalf("got %+v", ms)
			}
			for _, m := range ms {
				if silent := m.Source != "fine"; m.Silent != silent || silent && how != "" && m.Asked != how {
					t.Fatalf("got %+v", m)
				}
			}
		}
		began := time.Now() //nolint:forbidigo // a test measures
		check(byProbe)
		first := time.Since(began)
		// What a look from outside would prove, so that every round comes to the children, too.
		anew := func() { clear(h.fuse); clear(h.alive) }
		for range 5 {
			anew()
			check(byProbe)
		}
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c0, t0, f0 := counts(t, g)
		began = time.Now() //nolint:forbidigo // a test measures
		for i := range 1000 {
			if i%50 == 0 {
				anew()
			}
			check("")
		}
		each := time.Since(began) / 1000
		runtime.GC()
		runtime.ReadMemStats(&after)
		c1, t1, f1 := counts(t, g)
		t.Logf("first look %s, then %s each; children %d to %d, threads %d to %d, files %d to %d, heap %d to %d kB", first, each, c0, c1, t0, t1, f0, f1, before.HeapAlloc>>10, after.HeapAlloc>>10)
		if c1 > 5 || t1 > t0+3 || f1 != f0 || after.HeapAlloc > before.HeapAlloc+1<<20 {
			t.Errorf("children %d to %d, threads %d to %d, files %d to %d, heap %d to %d kB", c0, c1, t0, t1, f0, f1, before.HeapAlloc>>10, after.HeapAlloc>>10)
		}
		// They cannot be ended: only the mount can.
		for _, c := range h.children {
			if err := unix.Kill(c.pid, unix.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(100 * time.Millisecond)
		if c, _, _ := counts(t, g); c != 5 {
			t.Errorf("%d children, although they can't be killed", c)
		}
		for _, fs := range hung {
			fs.abort(t, g.sys)
		}
		eventually(t, "the children to end", func() bool {
			h.children.reap(func(string, int) {})
			c, _, _ := counts(t, g)
			return c == 0
		})
		for _, m := range look(t, h, "mounts").Mounts {
			if m.Silent { // an error is an answer
				t.Errorf("after the abort: %+v", m)
			}
		}
		h.Close()
		if c, _, _ := counts(t, g); c != 0 {
			t.Errorf("%d children after the end", c)
		}
	})
}

// A mount that comes back is told as such, and asked again.
func TestRootMountComesBack(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		fs := mountHang(t, g.dir, "hang")
		fs.answer(true)
		h := g.host()
		defer h.Close()
		if m := look(t, h, "mounts").Mounts; len(m) != 1 || m[0].Silent {
			t.Fatalf("got %+v", m)
		}
		fs.answer(false)
		if m := look(t, h, "mounts").Mounts; len(m) != 1 || m[0].Silent || len(h.children) != 0 {
			t.Fatalf("it was asked a moment ago: %+v", m)
		}
		clear(h.alive)
		if m := look(t, h, "mounts").Mounts; len(m) != 1 || !m[0].Silent || m[0].Asked != byProbe {
			t.Fatalf("got %+v", m)
		}
		fs.abort(t, g.sys)
		if err := unix.Unmount(fs.dir, unix.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
		eventually(t, "nothing to be mounted", func() bool { return len(look(t, h, "mounts").Mounts) == 0 && len(h.children) == 0 })
		if len(h.fuse)+len(h.servers) != 0 {
			t.Errorf("remembered: %v %v", h.fuse, h.servers)
		}
	})
}

// What is mounted only in another's namespace keeps a container alive that is gone.
func TestRootDeadMount(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		rootfs := filepath.Join(g.dir, "run/containerd/io.containerd.runtime.v2.task/k8s.io", cidA, "rootfs")
		if err := os.MkdirAll(rootfs, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("gone", rootfs, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		ready := filepath.Join(g.dir, "ready")
		p := spawn(t, "keep-mounts "+ready)
		eventually(t, "the holder", func() bool { _, err := os.Stat(ready); return err == nil })
		h := New(Options{Proc: g.proc, Root: g.proc + "/1/root", Sys: g.sys, Settle: time.Millisecond})
		defer h.Close()
		for range 2 {
			if m := look(t, h, "mounts").Mounts; len(m) != 0 {
				t.Errorf("the host has it, too: %+v", m)
			}
			time.Sleep(2 * time.Millisecond)
		}
		if err := unix.Unmount(rootfs, 0); err != nil {
			t.Fatal(err)
		}
		look(t, h, "mounts")
		time.Sleep(2 * time.Millisecond)
		m := look(t, h, "mounts").Mounts
		if len(m) != 1 || m[0].Dead != cidA || m[0].Target != rootfs || m[0].Type != "tmpfs" || len(m[0].HeldBy) != 1 || m[0].HeldBy[0].PID != p.Pid {
			t.Fatalf("got %+v", m)
		}
		_ = p.Signal(syscall.SIGKILL)
		_, _ = p.Wait()
		if m := look(t, h, "mounts").Mounts; len(m) != 0 {
			t.Errorf("the holder has ended: %+v", m)
		}
	})
}

func TestRootCNICall(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		h := g.host()
		defer h.Close()
		look(t, h, "processes")
		p := spawn(t, "sleep", "CNI_COMMAND=ADD", "CNI_CONTAINERID="+cidA, "CNI_ARGS=secret")
		got, err := h.CNICalls(t.Context())
		if err != nil || len(got) != 1 || got[0].PID != p.Pid || got[0].Command != "ADD" || got[0].CNI != cidA {
			t.Errorf("got %+v, %v", got, err)
		}
		_ = p.Kill()
		_, _ = p.Wait()
		if got, err := h.CNICalls(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("it has ended: %+v, %v", got, err)
		}
	})
}
