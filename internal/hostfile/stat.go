package hostfile

import (
	"bytes"
	"errors"
	"strconv"
)

// A Task is a process or thread, as /proc/PID/stat has it.
type Task struct {
	ID      int
	Name    string
	State   byte // as ps shows it: R, S, D, Z, X, …
	Parent  int
	Group   int  // process group; 0 if its leader is in another PID namespace
	Kernel  bool // a kernel thread
	Threads int
	Start   uint64 // in ticks since boot: unique together with the ID
	Env     uint64 // start address of its environment: changes with an exec; 0 if it has none or may not be read
}

var errStat = errors.New("not the stat of a task")

const flagKernel = 0x00200000 // PF_KTHREAD

// Fields of the stat file, counted from the one after the name, which is the state.
const (
	fieldState = 0
	fieldStart = 19
)

// statFields are the fields that are read; all of them are numbers.
var statFields = [...]func(t *Task, n uint64){
	1:          func(t *Task, n uint64) { t.Parent = int(n) },
	2:          func(t *Task, n uint64) { t.Group = int(n) },
	6:          func(t *Task, n uint64) { t.Kernel = n&flagKernel != 0 },
	17:         func(t *Task, n uint64) { t.Threads = int(n) },
	fieldStart: func(t *Task, n uint64) { t.Start = n },
	47:         func(t *Task, n uint64) { t.Env = n },
}

// parseStat reads a stat file. The name may hold any character, so it ends at the last
// parenthesis. A kernel that is too old for the environment's address leaves it 0.
func parseStat(b []byte) (Task, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 2 || end < open || end+2 >= len(b) {
		return Task{}, errStat
	}
	id, err := strconv.ParseUint(string(b[:open-1]), 10, 31)
	if err != nil {
		return Task{}, errStat
	}
	t := Task{ID: int(id), Name: string(b[open+1 : end])}
	fields := 0
	for field := range bytes.SplitSeq(bytes.TrimSpace(b[end+2:]), []byte{' '}) {
		if err := t.set(fields, field); err != nil {
			return Task{}, err
		}
		fields++
	}
	if fields <= fieldStart {
		return Task{}, errStat
	}
	return t, nil
}

func (t *Task) set(i int, field []byte) error {
	if i == fieldState {
		if len(field) != 1 {
			return errStat
		}
		t.State = field[0]
		return nil
	}
	if i >= len(statFields) || statFields[i] == nil {
		return nil
	}
	n, err := strconv.ParseUint(string(field), 10, 64)
	if err != nil {
		return errStat
	}
	statFields[i](t, n)
	return nil
}
