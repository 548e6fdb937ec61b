package hostfile

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestEndedBetween takes the links of a process, then lets it end: the kernel denies them, and its mount
// table is invalid. Neither is a missing right.
func TestEndedBetween(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir := "/proc/" + strconv.Itoa(cmd.Process.Pid)
	link, err := unix.Open(dir+"/ns/net", unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(link)
	_ = in.Close()
	for task := (Task{}); task.State != 'Z'; { // it stays a zombie until it is waited for
		if task, err = ReadStat(dir, make([]byte, MaxStat)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.ReadFile(dir + "/mountinfo"); !errors.Is(err, unix.EINVAL) || !errors.Is(OfTask(dir, err), unix.ESRCH) {
		t.Errorf("the mount table of a zombie: %v, %v", err, OfTask(dir, err))
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Readlinkat(link, "", make([]byte, 64)); !errors.Is(err, unix.EACCES) || !errors.Is(OfTask(dir, err), unix.ESRCH) {
		t.Errorf("the link of one that ended: %v, %v", err, OfTask(dir, err))
	}
}

// Of a task that lives, an error stays what it is.
func TestDeniedOfTheLiving(t *testing.T) {
	t.Parallel()
	for _, err := range []error{unix.EACCES, unix.EINVAL, unix.EIO, nil} {
		if got := OfTask("/proc/self", err); !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
}
