package ownerdb

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// addOnce is what an ADD costs: the record is opened, the ADD begun and ended.
func addOnce(dir string, i int) error {
	b, err := Open(dir)
	if err != nil {
		return err
	}
	o, err := b.Begin(attachment(fmt.Sprint(os.Getpid(), "-", i%50), fmt.Sprint("web-", os.Getpid(), "-", i%50)))
	if err != nil {
		return err
	}
	o.State = guard.Added
	return b.End(o)
}

// bench is what a process of a benchmark does.
func bench(dir, rounds string) error {
	n, err := strconv.Atoi(rounds)
	for i := 0; i < n && err == nil; i++ {
		err = addOnce(dir, i)
	}
	return err
}

func BenchmarkAddAlone(b *testing.B) {
	dir := tmpfs(b)
	before := cpu(syscall.RUSAGE_SELF)
	for i := 0; b.Loop(); i++ {
		if err := addOnce(dir, i); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu(syscall.RUSAGE_SELF)-before)/float64(b.N), "cpu-µs/op")
}

// BenchmarkAddOf20 has twenty processes at work. An operation is one ADD of each.
func BenchmarkAddOf20(b *testing.B) {
	dir := tmpfs(b)
	before := cpu(syscall.RUSAGE_CHILDREN)
	b.ResetTimer()
	var wait sync.WaitGroup
	for range 20 {
		cmd, out := worker(b, dir, b.N, "RECORD_BENCH=1")
		wait.Go(func() {
			_, _ = io.Copy(io.Discard, out)
			if err := cmd.Wait(); err != nil {
				b.Error(err)
			}
		})
	}
	wait.Wait()
	b.ReportMetric(float64(cpu(syscall.RUSAGE_CHILDREN)-before)/float64(b.N)/20, "cpu-µs/ADD")
}

// cpu is what was used, in microseconds: the machine may be busy otherwise.
func cpu(who int) int64 {
	var u syscall.Rusage
	_ = syscall.Getrusage(who, &u)
	return (u.Utime.Nano() + u.Stime.Nano()) / 1000
}
