package host

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/observe"
)

// asAnyone runs something on a thread without any capability. That thread is not used again.
func asAnyone(t *testing.T, run func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		none := [2]unix.CapUserData{}
		err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
		if err == nil {
			run()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// Open files that we may not see are not "none".
func TestFilesDenied(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.put(100, "glusterfs", 'D')
	tr.file(100, "mountinfo", "1 0 0:1 / / rw - ext4 /dev/vda rw\n")
	fd := filepath.Join(tr.dir, "100/fd")
	if err := os.MkdirAll(fd, 0o000); err != nil {
		t.Fatal(err)
	}
	v := &volume{mount: mount{target: "/data", kind: "fuse.x", minor: 52}}
	asAnyone(t, func() {
		tr.at += time.Second
		_ = h.readProcesses(t.Context(), &model.NodeState{})
		tr.at += time.Second
		var f model.NodeState
		err := h.readProcesses(t.Context(), &f)
		if !errors.Is(err, observe.ErrPartial) || !errors.Is(err, os.ErrPermission) || row(&f, 100).Why != "unkillable" {
			t.Errorf("processes: %+v, %v", f.Processes, err)
		}
		for range 2 { // the second time from memory
			if got, err := h.server(t.Context(), v, true); got != "" || !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "/data") {
				t.Errorf("server: %q, %v", got, err)
			}
		}
		if got, err := h.server(t.Context(), v, false); got != "" || err != nil {
			t.Errorf("it answers: %q, %v", got, err)
		}
	})
	if err := os.Chmod(fd, 0o700); err != nil {
		t.Fatal(err)
	}
	tr.at += lookAgainFor
	if _, err := h.server(t.Context(), v, true); err != nil {
		t.Errorf("now it can be seen: %v", err)
	}
}

// Then the mounts are not seen in full, though the silent one is.
func TestServerDenied(t *testing.T) {
	t.Parallel()
	tr, h := newTree(t)
	tr.file(1, "mountinfo", "1 0 0:52 / /data rw - fuse.x src rw\n")
	write(t, h.o.Sys, "fs/fuse/connections/52/waiting", "1\n")
	fd := filepath.Join(tr.dir, "1/fd")
	if err := os.MkdirAll(fd, 0o000); err != nil {
		t.Fatal(err)
	}
	asAnyone(t, func() {
		tr.at = time.Minute
		h.fuse["0:52"] = waiting{low: 1}
		var f model.NodeState
		err := h.readMounts(t.Context(), &f)
		if !errors.Is(err, observe.ErrPartial) || !errors.Is(err, os.ErrPermission) || len(f.Mounts) != 1 || !f.Mounts[0].Silent {
			t.Errorf("got %+v, %v", f.Mounts, err)
		}
	})
}
