package hostfile

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Nothing but a regular file within the limit is read, and nothing blocks.
func TestReadIsBounded(t *testing.T) {
	t.Parallel()
	root := node(t)
	for name, c := range map[string]struct {
		limit int
		want  string
		err   error
	}{
		"a/file": {6, "inside", nil}, "a": {6, "", ErrNotRegular}, "pipe": {6, "", ErrNotRegular}, "huge": {1 << 15, "", ErrTooBig},
		"outfile": {6, "", unix.ELOOP}, "absfile": {6, "", unix.ELOOP}, "loop": {6, "", unix.ELOOP}, "missing": {6, "", os.ErrNotExist},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			got, err := Read(root.Path(name), c.limit)
			check(t, name, string(got), err, c.want, c.err)
			if !errors.Is(c.err, unix.ELOOP) {
				got, err = ReadFollow(root.Path(name), int64(c.limit))
				check(t, "follow "+name, string(got), err, c.want, c.err)
			}
			f, _, err := OpenRegular(root.Path(name), os.O_RDONLY)
			if bad := c.err != nil && !errors.Is(c.err, ErrTooBig); bad != (err != nil) {
				t.Errorf("open %s: %v", name, err)
			}
			_ = f.Close()
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the read blocks", name)
		}
	}
	if _, err := Read(root.Path("a/file"), 5); !errors.Is(err, ErrTooBig) {
		t.Error(err)
	}
	if got, err := Read(root.Path("huge"), 1<<16); err != nil || len(got) != 1<<16 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, name := range []string{"outfile", "topipe"} { // these are followed, and the pipe is still refused
		got, err := ReadFollow(root.Path(name), 6)
		if name == "outfile" && string(got) != "secret" || name == "topipe" && err == nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// A file of procfs has a size of 0 and content.
	if got, err := Read("/proc/self/stat", MaxStat); err != nil || len(got) == 0 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestListsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 12 {
		must(t, os.Mkdir(fmt.Sprintf("%s/%d", dir, i), 0o755))
	}
	for _, name := range []string{"self", "1x", "-3", "99999999999"} {
		must(t, os.Mkdir(dir+"/"+name, 0o755))
	}
	got, more, err := Numbers(dir, 12)
	if slices.Sort(got); err != nil || more || !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
		t.Errorf("%d, %v, %v", got, more, err)
	}
	if got, more, err := Numbers(dir, 11); err != nil || !more || len(got) != 11 {
		t.Errorf("%d, %v, %v", got, more, err)
	}
	for limit, want := range map[int]int{20: 16, 16: 16, 15: 15} {
		d, err := os.Open(dir)
		must(t, err)
		names, more, err := Names(d, limit)
		if err != nil || len(names) != want || more != (limit == 15) {
			t.Errorf("%d: %q, %v, %v", limit, names, more, err)
		}
		must(t, d.Close())
	}
	empty, err := os.Open(t.TempDir())
	must(t, err)
	defer func() { _ = empty.Close() }()
	if names, more, err := Names(empty, 1); err != nil || more || len(names) != 0 {
		t.Errorf("%q, %v, %v", names, more, err)
	}
}

func TestOwnStat(t *testing.T) {
	t.Parallel()
	buf := make([]byte, MaxStat)
	got, err := ReadStat("/proc/"+strconv.Itoa(os.Getpid()), buf)
	if err != nil || got.ID != os.Getpid() || got.Parent != os.Getppid() || got.Group != unix.Getpgrp() || got.Start == 0 || got.Threads < 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ReadStat("/proc/0", buf); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
