package host

import (
	"bytes"
	"errors"
)

// A task is a process or thread, as its stat file has it.
type task struct {
	id      int
	name    string
	state   byte
	parent  int
	kernel  bool // a kernel thread
	threads int
	start   uint64 // in ticks since boot: unique together with the ID
	env     uint64 // start address of its environment: changes with an exec; 0 if it has none or may not be read
}

// Fields of the stat file, counted from the one after the name.
const (
	fieldState   = 0
	fieldParent  = 1
	fieldFlags   = 6
	fieldThreads = 17
	fieldStart   = 19
	fieldEnv     = 47

	flagKernel = 0x00200000 // PF_KTHREAD
)

var errStat = errors.New("not the stat of a task")

// parseStat reads a stat file. The name may hold any character, so it ends at the last
// parenthesis.
func parseStat(b []byte) (task, error) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 2 || end < open || end+2 >= len(b) {
		return task{}, errStat
	}
	id, ok := number(b[:open-1])
	if !ok {
		return task{}, errStat
	}
	t := task{id: int(id), name: string(b[open+1 : end])}
	rest, i := b[end+2:], 0
	for ; len(rest) > 0; i++ {
		field := rest
		if at := bytes.IndexByte(rest, ' '); at >= 0 {
			field, rest = rest[:at], rest[at+1:]
		} else {
			rest = nil
		}
		if i == fieldState && len(field) == 1 {
			t.state = field[0]
			continue
		}
		if i != fieldParent && i != fieldFlags && i != fieldThreads && i != fieldStart && i != fieldEnv {
			continue
		}
		n, ok := number(bytes.TrimSpace(field))
		if !ok {
			return task{}, errStat
		}
		switch i {
		case fieldParent:
			t.parent = int(n)
		case fieldFlags:
			t.kernel = n&flagKernel != 0
		case fieldThreads:
			t.threads = int(n)
		case fieldStart:
			t.start = n
		case fieldEnv:
			t.env = n
		}
	}
	if i <= fieldStart || t.state == 0 {
		return task{}, errStat
	}
	return t, nil
}

// number reads a decimal of up to 64 bits.
func number(b []byte) (n uint64, ok bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n > (1<<64-1-uint64(c-'0'))/10 {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}
