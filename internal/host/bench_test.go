package host

import (
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
)

// crowd starts a thousand sleeping processes of one thread, in new namespaces if any are named.
func crowd(b *testing.B, spaces uintptr) {
	b.Helper()
	var pids []int
	b.Cleanup(func() {
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	})
	for range 1000 {
		pid, err := syscall.ForkExec("/bin/sleep", []string{"sleep", "1000"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: spaces}})
		if err != nil {
			b.Fatal(err)
		}
		pids = append(pids, pid)
	}
}

// cpu reports what the loop cost in CPU time: the wall clock of a shared machine tells little.
func cpu(b *testing.B) func() {
	used := func() int64 {
		var r unix.Rusage
		_ = unix.Getrusage(unix.RUSAGE_SELF, &r)
		return r.Utime.Nano() + r.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N)/1e6, "cpu-ms/op") }
}

func BenchmarkProcesses1000(b *testing.B) {
	crowd(b, 0)
	h := New(Options{})
	defer cpu(b)()
	for b.Loop() {
		_ = h.readProcesses(b.Context(), &model.NodeState{})
	}
}

func BenchmarkFirstLook1000(b *testing.B) {
	crowd(b, 0)
	defer cpu(b)()
	for b.Loop() {
		_ = New(Options{}).readProcesses(b.Context(), &model.NodeState{})
	}
}

// On a node nearly all processes are those of pods.
func BenchmarkProcessesInPods1000(b *testing.B) {
	crowd(b, syscall.CLONE_NEWPID)
	h := New(Options{})
	defer cpu(b)()
	for b.Loop() {
		_ = h.readProcesses(b.Context(), &model.NodeState{})
	}
}

func BenchmarkFirstLookInPods1000(b *testing.B) {
	crowd(b, syscall.CLONE_NEWPID)
	defer cpu(b)()
	for b.Loop() {
		_ = New(Options{}).readProcesses(b.Context(), &model.NodeState{})
	}
}

func BenchmarkMountSpaces1000(b *testing.B) {
	crowd(b, 0)
	h := New(Options{})
	defer cpu(b)()
	for b.Loop() {
		_, _ = h.spaces(b.Context())
	}
}
