//go:build e2e

package agents

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// cost starts to measure the API server, and returns a function that describes its cost.
func (c *cluster) cost(t *testing.T) (spent func() string) {
	t.Helper()
	before := cpuOf(t, c.server)
	// Reset the peak of its memory.
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", c.server), []byte("5"), 0); err != nil {
		t.Fatal(err)
	}
	had := memoryOf(c.server, "VmRSS:")
	return func() string {
		return fmt.Sprintf("API server %s CPU, %d MB, %+d", short(cpuOf(t, c.server)-before), memoryOf(c.server, "VmHWM:")>>20, (memoryOf(c.server, "VmHWM:")-had)>>20)
	}
}

// cpuOf is the CPU time of a process so far.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	rest := b[strings.LastIndexByte(string(b), ')')+1:]
	f := strings.Fields(string(rest))
	var user, system int64
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// memoryOf reads a memory figure of a process; 0 if it has exited.
func memoryOf(pid int, figure string) (bytes int64) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, rest, ok := strings.Cut(string(b), figure); ok {
		_, _ = fmt.Sscan(rest, &bytes)
	}
	return bytes << 10
}

// highWater reads the memory of a process until it exits, and returns the peak.
func highWater(pid int) (peak func() int64) {
	end, told := make(chan struct{}), make(chan int64)
	go func() {
		var most int64
		for {
			most = max(most, memoryOf(pid, "VmHWM:"))
			select {
			case <-end:
				told <- most
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() int64 { close(end); return <-told }
}
