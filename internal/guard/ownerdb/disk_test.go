package ownerdb

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

var kills = flag.Int("kills", 100, "how many processes are killed")

// TestMain makes this program a guard of its own, to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("RECORD_WORKER"); dir != "" {
		err := error(nil)
		if os.Getenv("RECORD_BENCH") != "" {
			err = bench(dir, os.Getenv("RECORD_ROUNDS"))
		} else {
			err = work(dir, os.Getenv("RECORD_ROUNDS"), os.Stdout)
		}
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work begins and ends attachments of a few names and says what it was given.
func work(dir, rounds string, out io.Writer) error {
	b, err := Open(dir)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(rounds)
	for i := range n {
		c := fmt.Sprintf("c%d-%d", os.Getpid(), i)
		var o guard.Owner
		err := patient(func() (err error) {
			o, err = b.Begin(attachment(c, fmt.Sprintf("web-%d", (os.Getpid()/3+i)%25)))
			return err
		})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%d %s\n", o.Seq, c); err != nil {
			return err
		}
		for _, s := range []guard.State{guard.Added, guard.Deleted} {
			if o.State = s; i%9 != 0 || s == guard.Added {
				if err := patient(func() error { return b.End(o) }); err != nil {
					return err
				}
			}
		}
		if i%7 == 6 {
			d := guard.QueuedDel{Call: guard.Call{Network: "net", Container: c, IfName: "eth0"}}
			if err := errors.Join(patient(func() error { return b.Queue(d) }), patient(func() error { return b.Forget(20) })); err != nil {
				return err
			}
		}
	}
	return nil
}

// patient tries again what could not get a lock in time: on a machine with much else to do
// a hundred processes wait longer than a plugin may, which passes its call on without a
// record then.
func patient(change func() error) error {
	err := change()
	for tries := 0; tries < 30 && errors.Is(err, context.DeadlineExceeded); tries++ {
		err = change()
	}
	return err
}

// tmpfs gives a directory in memory, where the record lives on every node.
func tmpfs(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "record") //nolint:usetesting // in memory, as /run is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return filepath.Join(dir, "guard")
}

func worker(t testing.TB, dir string, rounds int, env ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), "RECORD_WORKER="+dir, "RECORD_ROUNDS="+strconv.Itoa(rounds)), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// given collects the numbers that a worker was given.
func given(t *testing.T, out io.Reader, seen map[uint64]string, mu *sync.Mutex, first func()) {
	t.Helper()
	lines := bufio.NewScanner(out)
	var last uint64
	for lines.Scan() {
		if last == 0 {
			first()
		}
		number, who, _ := strings.Cut(lines.Text(), " ")
		seq, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			t.Error(err)
		}
		if seq <= last {
			t.Errorf("%d was given after %d", seq, last)
		}
		last = seq
		mu.Lock()
		if seen[seq] != "" {
			t.Errorf("%d was given to %s and to %s", seq, seen[seq], who)
		}
		seen[seq] = who
		mu.Unlock()
	}
}

// TestKilled kills processes at random moments, two at work at a time, on a real file
// system. Whatever they leave can be read, and the next goes on above it.
func TestKilled(t *testing.T) {
	dir := tmpfs(t)
	seen, mu := map[uint64]string{}, sync.Mutex{}
	r := rand.New(rand.NewPCG(1, 2))
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for killed := 0; killed < *kills; killed += 2 {
		var wait sync.WaitGroup
		for range 2 {
			cmd, out := worker(t, dir, 1<<30)
			after := time.Duration(r.IntN(20000)) * time.Microsecond
			wait.Go(func() {
				given(t, out, seen, &mu, func() { time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) })
				_ = cmd.Wait()
			})
		}
		wait.Wait()
		names, err := b.files.List()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, newFile) || strings.HasPrefix(name, lockFile) {
				continue
			}
			if _, err := get[any](b, name); err != nil {
				t.Fatalf("%s after %d kills: %v", name, killed+2, err)
			}
		}
		if sane(t, b); t.Failed() {
			t.Fatalf("after %d kills", killed+2)
		}
	}
	t.Logf("%d kills, %d numbers", *kills, len(seen))
	o, err := b.Begin(attachment("last", "web"))
	for seq := range seen {
		if err != nil || o.Seq <= seq {
			t.Fatalf("%d was given after %d: %v", o.Seq, seq, err)
		}
	}
}

// TestHundred has a hundred processes at work at once.
func TestHundred(t *testing.T) {
	dir := tmpfs(t)
	seen, mu := map[uint64]string{}, sync.Mutex{}
	var wait sync.WaitGroup
	for range 100 {
		cmd, out := worker(t, dir, 6)
		wait.Go(func() {
			given(t, out, seen, &mu, func() {})
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(seen) != 600 {
		t.Errorf("%d numbers were given in 600 rounds", len(seen))
	}
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sane(t, b)
}
