package host

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/hostfile"
)

// Whose memory hangs costs its own pod, and not the host.
func TestHungPodsDoNotBlindUs(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	hangs := make(chan answer)
	hang := func(n int, group string) {
		for range n {
			h.unread["/"+strconv.Itoa(len(h.unread))] = hanging{done: hangs, group: group}
		}
	}
	of := func(pid int, pod string) *process {
		tr.put(pid, "x", 'S')
		tr.file(pid, "cgroup", "0::/kubepods/pod"+pod+"/"+cidA+"\n")
		return &process{Task: hostfile.Task{ID: pid, Start: 77, State: 'S', Threads: 1}}
	}
	uidB := strings.Replace(uidA, "2b8e", "bbbb", 1)
	a, b := of(100, uidA), of(200, uidB)
	tr.put(300, "host", 'S')
	own := &process{Task: hostfile.Task{ID: 300, Start: 77, State: 'S', Threads: 1}}
	for _, c := range []struct {
		n          int
		group      string
		a, b, host bool
	}{
		{1, uidA, false, false, false},
		{1, uidA, true, false, false},
		{6, "others", true, true, false},
		{7, "", true, true, false},
		{1, "", true, true, true},
	} {
		hang(c.n, c.group)
		if h.crowded(a, "/x") != c.a || h.crowded(b, "/x") != c.b || h.crowded(own, "/x") != c.host {
			t.Errorf("with %d: %v %v %v", len(h.unread), h.crowded(a, "/x"), h.crowded(b, "/x"), h.crowded(own, "/x"))
		}
	}
	close(hangs)
	if h.crowded(own, "/x") || len(h.unread) != 0 {
		t.Errorf("%d are left", len(h.unread))
	}
}

// All the pods' share hangs: the host's calls are seen nevertheless, and the look is whole.
func TestCallsBesideHungPods(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	hangs := make(chan answer)
	for pid := 100; pid < 100+maxUnreadOfPods; pid++ {
		tr.put(pid, "x", 'S')
		tr.nest(pid)
		h.unread[filepath.Join(tr.dir, strconv.Itoa(pid), "environ")] = hanging{done: hangs, group: uidA}
	}
	tr.put(300, "calico", 'S')
	tr.file(300, "environ", call)
	if got, err := h.CNICalls(t.Context()); err != nil || len(got) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := tr.look(h, 0); got[300].Why != "cni" {
		t.Errorf("look: %+v", got)
	}
}

// Whoever lives in a container is visited last, and nobody twice or never.
func TestHostFirst(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	for pid := 100; pid < 103; pid++ {
		tr.put(pid, "x", 'S')
	}
	tr.nest(100)
	var got []string
	if err := h.hostFirst(t.Context(), func(p *process) { got = append(got, strconv.Itoa(p.ID)) }); err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, " "); s != "1 101 102 100" {
		t.Errorf("got %s", s)
	}
}
