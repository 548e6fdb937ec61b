package host

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// nest puts a process into a PID namespace of its own.
func (tr *tree) nest(pid int) {
	tr.t.Helper()
	tr.file(pid, "status", "NSpid:\t"+strconv.Itoa(pid)+"\t7\n")
}

// space puts a process into another namespace than the host's.
func (tr *tree) space(pid int, kind string) {
	tr.t.Helper()
	link := filepath.Join(tr.dir, strconv.Itoa(pid), "ns", kind)
	_ = os.Remove(link)
	if err := os.Symlink(kind+":[4026599999]", link); err != nil {
		tr.t.Fatal(err)
	}
}

// felix puts a process that runs as Felix does.
func (tr *tree) felix(pid, start int, env string) {
	tr.t.Helper()
	tr.put(pid, "calico-node", 'S')
	tr.file(pid, "cmdline", "calico-node\x00-felix\x00")
	tr.file(pid, "environ", env)
	tr.restart(pid, start)
}

func TestPodPlaysCNI(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.put(100, "calico", 'S')
	tr.nest(100)
	tr.file(100, "environ", call)
	// A kernel that does not count namespaces still has their links.
	tr.put(200, "calico", 'S')
	if err := os.Symlink("pid:[4026531836]", filepath.Join(tr.dir, "1/ns/pid")); err != nil {
		t.Fatal(err)
	}
	tr.space(200, "pid")
	tr.file(200, "environ", call)
	if got, err := h.CNICalls(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := tr.look(h, 0); len(got) != 0 {
		t.Errorf("look: %+v", got)
	}
	// The host's own are seen beside it.
	tr.put(300, "calico", 'S')
	tr.file(300, "status", "NSpid:\t300\n")
	tr.file(300, "environ", call)
	if got, err := h.CNICalls(t.Context()); err != nil || len(got) != 1 || got[0].PID != 300 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPodPlaysFelix(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.felix(50, 500, "FELIX_BPFENABLED=false\x00")
	tr.nest(50) // Felix lives in a container, too, but in the host's network
	tr.felix(40, 400, "FELIX_BPFENABLED=true\x00")
	tr.nest(40)
	tr.space(40, "net")
	tr.felix(60, 600, "FELIX_BPFENABLED=true\x00")
	tr.put(70, "calico-felix", 'S')
	tr.space(70, "net")
	it, err := h.findFelix(t.Context())
	if err != nil || it == nil || !maps.Equal(it.set, map[string]string{"FELIX_BPFENABLED": "false"}) {
		t.Fatalf("got %+v, %v", it, err)
	}
	if got := tr.look(h, 0); len(got) != 1 || got[50].Why != "felix" {
		t.Errorf("look: %+v", got)
	}
	// Without the host's there is none.
	tr.put(50, "x", 'S')
	tr.put(60, "x", 'S')
	if it, err = h.findFelix(t.Context()); err != nil || it != nil {
		t.Errorf("got %+v, %v", it, err)
	}
}

// One that may be Felix, and older than who says so, is not passed over in silence.
func TestFelixInDoubt(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.felix(60, 600, "")
	tr.put(50, "calico-node", 'D')
	if it, err := h.findFelix(t.Context()); it == nil || !errors.Is(err, errUnread) {
		t.Errorf("got %+v, %v", it, err)
	}
	tr.space(50, "net") // it is a pod's
	tr.nest(50)
	clear(h.places)
	if it, err := h.findFelix(t.Context()); it == nil || err != nil {
		t.Errorf("a pod: got %+v, %v", it, err)
	}
}

func TestParseSettings(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", maxSetting)
	for in, want := range map[string]string{
		"FELIX_HEALTHPORT=9199": "9199", "FELIX_HEALTHPORT=65535": "65535",
		"FELIX_HEALTHPORT=0": "", "FELIX_HEALTHPORT=65536": "", "FELIX_HEALTHPORT=80/x": "", "FELIX_HEALTHPORT=+80": "",
		"NODENAME=" + long: long, "NODENAME=" + long + "a": "",
		"NODENAME=a\x1b[2J": "", "NODENAME=a\n": "", "NODENAME=\xff": "",
	} {
		name, _, _ := strings.Cut(in, "=")
		set, refused := parseSettings([]byte(in + "\x00"))
		if set[name] != want || (len(refused) == 1) != (want == "") {
			t.Errorf("%q: got %q, refused %q", in, set, refused)
		}
	}
}

// What Felix was told and we do not take is said.
func TestRefusedSetting(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.felix(50, 500, "FELIX_HEALTHPORT=22/x\x00FELIX_BPFENABLED=true\x00")
	for range 2 { // the second time from memory
		it, err := h.findFelix(t.Context())
		if err == nil || !strings.Contains(err.Error(), "FELIX_HEALTHPORT") || !maps.Equal(it.set, map[string]string{"FELIX_BPFENABLED": "true"}) {
			t.Errorf("got %+v, %v", it, err)
		}
	}
}
