package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline/journal"
)

const benchEntries = 160_000

// bigJournals gives a directory with files that systemd-journal-remote of this machine wrote.
func bigJournals(b *testing.B) (dir string, size int64) {
	b.Helper()
	const remote = "/lib/systemd/systemd-journal-remote"
	if _, err := os.Stat(remote); err != nil {
		b.Skip("install systemd-journal-remote")
	}
	dir = b.TempDir()
	var in bytes.Buffer
	for i := range benchEntries {
		if i != coreDump {
			writeExport(&in, i)
		}
	}
	cmd := exec.Command(remote, "-o", filepath.Join(dir, "big.journal"), "-")
	cmd.Stdin = &in
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, name := range inDir(b, dir) {
		info, err := os.Stat(name)
		must(b, err)
		size += info.Size()
	}
	return dir, size
}

func inDir(b *testing.B, dir string) []string {
	b.Helper()
	names, err := filepath.Glob(dir + "/*.journal")
	must(b, err)
	return names
}

// BenchmarkBesideJournalctl compares reading all fields of big files with journalctl -o export, and
// reading what a timeline needs. Beside the time it reports entries and megabytes per second of CPU
// time, which other programs on the machine do not change.
func BenchmarkBesideJournalctl(b *testing.B) {
	dir, size := bigJournals(b)
	report := func(b *testing.B, entries int, cpu time.Duration) {
		b.Helper()
		b.ReportMetric(float64(entries*b.N)/cpu.Seconds(), "entries/cpu-s")
		b.ReportMetric(float64(size)/1e6*float64(b.N)/cpu.Seconds(), "MB/cpu-s")
		b.ReportMetric(float64(entries), "entries")
	}
	b.Run("journalctl", func(b *testing.B) {
		n, cpu := 0, time.Duration(0)
		for b.Loop() {
			cmd := exec.Command("journalctl", "-o", "export", "--no-pager", "--directory", dir)
			out, err := cmd.Output()
			must(b, err)
			n = bytes.Count(out, []byte("__CURSOR="))
			cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		report(b, n, cpu)
	})
	for _, c := range []struct {
		name string
		q    journal.Query
	}{
		{"all", journal.Query{}},
		{"message", journal.Query{Fields: []string{"MESSAGE", "_HOSTNAME", "SYSLOG_IDENTIFIER", "_COMM", "_PID"}}},
		{"kubelet", journal.Query{Fields: []string{"MESSAGE"}, Match: kubelet}},
		{"since", journal.Query{Fields: []string{"MESSAGE"}, Since: time.UnixMicro(1_794_736_586_000_000 + (benchEntries-100)*217_003 - benchEntries/50*3_000_000)}},
	} {
		b.Run(c.name, func(b *testing.B) {
			n, start := 0, cpuTime(b)
			for b.Loop() {
				n = readBig(b, dir, c.q)
			}
			report(b, n, cpuTime(b)-start)
			b.ReportAllocs()
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func readBig(b *testing.B, dir string, q journal.Query) int {
	b.Helper()
	var files []*journal.File
	for _, name := range inDir(b, dir) {
		file, err := os.Open(name)
		must(b, err)
		defer file.Close()
		info, err := file.Stat()
		must(b, err)
		f, err := journal.Open(file, info.Size())
		must(b, err)
		files = append(files, f)
	}
	r := journal.NewReader(q, files...)
	for n := 0; ; n++ {
		if _, err := r.Next(context.Background()); err != nil {
			if !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
			for _, f := range files {
				if len(f.Damage()) > 0 {
					b.Fatal(f.Damage())
				}
			}
			return n
		}
	}
}
