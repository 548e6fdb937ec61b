package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/model"
)

// A tree is a procfs that we wrote ourselves.
type tree struct {
	t   *testing.T
	dir string
	at  time.Duration
}

func newTree(t *testing.T) (*tree, *Host) {
	tr := &tree{t: t, dir: t.TempDir()}
	tr.put(1, "init", 'S')
	h := New(Options{Proc: tr.dir, Root: t.TempDir()})
	h.now = func() time.Duration { return tr.at }
	return tr, h
}

// put writes a process; others are the states of its further threads.
func (tr *tree) put(pid int, name string, state byte, others ...byte) {
	tr.t.Helper()
	stat := func(id int, state byte) string {
		return fmt.Sprintf("%d (%s) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 %d 0 77 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 140000 140100 0\n",
			id, name, state, 1+len(others))
	}
	tr.file(pid, "stat", stat(pid, state))
	tr.task(pid, pid, stat(pid, state))
	for i, s := range others {
		tr.task(pid, pid+1+i, stat(pid+1+i, s))
	}
	tr.file(pid, "environ", "PATH=/bin\x00")
	ns := filepath.Join(tr.dir, strconv.Itoa(pid), "ns")
	_ = os.MkdirAll(ns, 0o755)
	for _, k := range []string{"net", "mnt"} {
		_ = os.Symlink(k+":[4026531840]", filepath.Join(ns, k))
	}
}

func (tr *tree) task(pid, tid int, stat string) {
	dir := "task/" + strconv.Itoa(tid)
	tr.file(pid, dir+"/stat", stat)
	tr.file(pid, dir+"/wchan", "0")
	tr.file(pid, dir+"/status", "NSpid:\t"+strconv.Itoa(tid)+"\nvoluntary_ctxt_switches:\t5\n")
}

func (tr *tree) file(pid int, name, content string) {
	tr.t.Helper()
	write(tr.t, tr.dir, strconv.Itoa(pid), name, content)
}

// look is one look, a time after the last one.
func (tr *tree) look(h *Host, after time.Duration) map[int]model.Process {
	tr.t.Helper()
	tr.at += after
	var f model.NodeState
	if err := h.readProcesses(tr.t.Context(), &f); err != nil {
		tr.t.Fatal(err)
	}
	out := map[int]model.Process{}
	for _, p := range f.Processes {
		out[p.PID] = p
	}
	return out
}
