package supervise

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// stopWithin is how long a process may take until its last thread has stopped.
const stopWithin = 8 * time.Second

// stopped waits until every thread of a process has stopped: on a busy machine that
// takes a moment, and until then the process still answers.
func stopped(pid int) error {
	for end := time.Now().Add(stopWithin); ; time.Sleep(time.Millisecond) {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			return err
		}
		left := 0
		for _, t := range threads {
			stat, err := os.ReadFile(t)
			if err != nil {
				continue // it has exited
			}
			if i := bytes.LastIndexByte(stat, ')'); i < 0 || len(stat) < i+3 || stat[i+2] != 'T' {
				left++
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d threads of %d did not stop within %s", left, pid, stopWithin)
		}
	}
}
