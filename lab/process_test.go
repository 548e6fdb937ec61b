package lab

import (
	"errors"
	"os"
	"testing"
	"time"
)

func TestProcessIsReadFromProc(t *testing.T) {
	t.Parallel()
	status := "Name:\tplumbline-agent\nVmHWM:\t   30000 kB\nVmRSS:\t   20000 kB\nThreads:\t9\n"
	stat := "17 (a) b (c)) S 1 17 17 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 100"
	p, err := parseProcess(status, stat)
	want := Process{RSS: 20000 << 10, Peak: 30000 << 10, Threads: 9, CPU: 2 * time.Second}
	if err != nil || p != want {
		t.Errorf("%+v, %v, want %+v", p, err, want)
	}
	for name, stat := range map[string]string{"empty": "", "cut off": "17 (a) S 1 17 17", "no numbers": "17 (a) S 1 17 17 0 -1 4194560 1 2 3 4 x 50 7"} {
		if p, err := parseProcess(status, stat); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestProcessOfThisTest(t *testing.T) {
	t.Parallel()
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	ns, err := os.Open("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ns.Close() }()
	p, err := readProcess("/proc/self", []string{string(comm[:len(comm)-1])})
	if err != nil || p.RSS < 1<<20 || p.Peak < p.RSS || p.Threads == 0 || p.Files < 3 || p.NetNS != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := readProcess("/proc/self", []string{os.Args[0]}); err != nil {
		t.Error(err)
	}
	if _, err := readProcess("/proc/self", []string{"another"}); !errors.Is(err, errOther) {
		t.Errorf("%v", err)
	}
}
