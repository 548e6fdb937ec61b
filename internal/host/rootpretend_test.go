package host

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A process in a PID namespace of its own is no CNI call, whatever its environment says.
func TestRootPodPlaysCNI(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		h := g.host()
		defer h.Close()
		env := []string{"CNI_COMMAND=ADD", "CNI_CONTAINERID=" + cidA}
		pod := spawnIn(t, syscall.CLONE_NEWPID, "sleep", env...)
		own := spawn(t, "sleep", env...)
		got, err := h.CNICalls(t.Context())
		if err != nil || len(got) != 1 || got[0].PID != own.Pid {
			t.Errorf("got %+v, %v", got, err)
		}
		f := look(t, h, "processes")
		if p := row(f, pod.Pid); p.PID != 0 || row(f, own.Pid).Why != "cni" {
			t.Errorf("look: %+v", f.Processes)
		}
	})
}

// Felix is found in a container, but only in the host's network.
func TestRootPodPlaysFelix(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		h := g.host()
		defer h.Close()
		named := func(spaces uintptr, bpf string) *os.Process {
			t.Helper()
			p := spawnIn(t, spaces, "named calico-node", "FELIX_BPFENABLED="+bpf)
			eventually(t, "its name", func() bool {
				b, _ := os.ReadFile(g.proc + "/" + strconv.Itoa(p.Pid) + "/comm")
				return strings.TrimSpace(string(b)) == "calico-node"
			})
			return p
		}
		named(syscall.CLONE_NEWPID|syscall.CLONE_NEWNET, "pod")
		if it, err := h.findFelix(t.Context()); err != nil || it != nil {
			t.Errorf("got %+v, %v", it, err)
		}
		hosts := named(syscall.CLONE_NEWPID, "real")
		named(syscall.CLONE_NEWPID, "late")
		if it, err := h.findFelix(t.Context()); err != nil || it == nil || it.set["FELIX_BPFENABLED"] != "real" {
			t.Errorf("got %+v, %v", it, err)
		}
		if f := look(t, h, "processes"); len(f.Processes) != 1 || row(f, hosts.Pid).Why != "felix" {
			t.Errorf("look: %+v", f.Processes)
		}
	})
}

// A mount whose server has died says so at once: it is not silent, and was asked.
func TestRootDeadServer(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		fs := mountHang(t, g.dir, "dead")
		fs.answer(true)
		h := g.host()
		defer h.Close()
		look(t, h, "mounts")
		fs.answer(false)
		if err := fs.device.Close(); err != nil {
			t.Fatal(err)
		}
		var s unix.Statfs_t
		eventually(t, "the server to be dead", func() bool { return unix.Statfs(fs.dir, &s) == unix.ENOTCONN })
		for range 3 {
			clear(h.alive)
			if m := look(t, h, "mounts").Mounts; len(m) != 1 || m[0].Silent || m[0].Asked != "" {
				t.Errorf("got %+v", m)
			}
		}
	})
}
