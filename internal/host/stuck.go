package host

import (
	"cmp"
	"slices"
	"strconv"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/model"
)

// A pause is the state of a task that does not run. As long as it is unchanged the task has
// not run at all: being in state D twice is normal for a task that reads a disk.
type pause struct {
	start    uint64
	state    byte
	waits    string
	switches uint64
}

// Why a process is reported.
const (
	whyZombie     = "zombie"
	whyUnkillable = "unkillable"
	whyCNI        = "cni"
	whyFelix      = "felix"
)

// stuckness returns why a process cannot end: zombie, unkillable, or empty.
func (h *Host) stuckness(p *process) string {
	at := h.now()
	switch {
	case p.State == 'Z' && p.alive() != 0:
		h.frozen(p) // the state of its threads is recorded
		return whyZombie
	case p.State == 'Z':
		age, again := h.stuck.lasts(p.ID, pause{start: p.Start, state: 'Z'}, at)
		if again && age >= h.o.Settle || readStatus(h.dir(p)).first {
			return whyZombie
		}
	case p.hung() && h.frozen(p):
		return whyUnkillable
	}
	return ""
}

// frozen reports whether a thread in state D has not run since an earlier read, or does not
// react to SIGKILL.
func (h *Host) frozen(p *process) bool {
	at, yes := h.now(), false
	for _, t := range append([]hostfile.Task{p.Task}, p.others...) {
		if t.State != 'D' {
			continue
		}
		dir := h.taskDir(p.ID, t.ID)
		s := readStatus(dir)
		age, again := h.stuck.lasts(t.ID, pause{start: t.Start, state: 'D', waits: waitsIn(dir), switches: s.switches}, at)
		if again && age >= h.o.Settle || s.dying {
			yes = true
		}
	}
	return yes
}

func (h *Host) taskDir(pid, tid int) string {
	return h.o.Proc + "/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid)
}

const maxTold = 16 // threads, or mounts with open files, of one process

// toldThreads are the threads that show why: those in state D first, then those that run
// beside a zombie.
func (h *Host) toldThreads(p *process) []model.Thread {
	var pick []hostfile.Task
	for _, t := range p.others {
		if t.State == 'D' || p.State == 'Z' && t.State != 'Z' && t.State != 'X' {
			pick = append(pick, t)
		}
	}
	slices.SortStableFunc(pick, func(a, b hostfile.Task) int {
		return cmp.Or(-cmp.Compare(inD(a), inD(b)), cmp.Compare(a.ID, b.ID))
	})
	var out []model.Thread
	for _, t := range pick[:min(len(pick), maxTold)] {
		out = append(out, model.Thread{TID: t.ID, State: string(t.State), Waits: waitsIn(h.taskDir(p.ID, t.ID))})
	}
	return out
}

func inD(t hostfile.Task) int {
	if t.State == 'D' {
		return 1
	}
	return 0
}
