// Package memlimit keeps a program within the memory limit of its container.
package memlimit

import (
	"math"
	"runtime/debug"
	"strconv"
	"strings"
)

// Where a container's memory limit is, with version 2 and version 1 of cgroups.
var memoryLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// Set makes the garbage collector work harder as the container's memory limit comes near. Otherwise
// the heap doubles between two collections, and when many connect at once the kernel ends the
// program. GOMEMLIMIT takes precedence.
func Set(getenv func(string) string, read func(string) ([]byte, error)) {
	if limit := memoryLimit(read); limit > 0 && getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

// memoryLimit is the container's limit, less what sockets and the kernel need in it; 0: there is none.
func memoryLimit(read func(string) ([]byte, error)) int64 {
	for _, file := range memoryLimits {
		b, err := read(file)
		if err != nil {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/2 { // max, or version 1 without a limit
			return 0
		}
		return n / 100 * 85
	}
	return 0
}
