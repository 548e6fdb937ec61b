// Command hangfs serves a FUSE file system whose operations can be made to hang after
// the server has accepted the request: from then on the caller cannot be killed. It
// simulates a network file system whose server failed.
//
//	hangfs MOUNTPOINT CONTROL
//
// CONTROL is a file that lists the operations that hang: read, getattr, lookup, opendir,
// open, statfs or all. It is reread while an operation hangs, so emptying it ends every
// hang.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

const size = 1 << 20

type control string

// wait returns once op must not hang. It ignores the kernel's INTERRUPT on purpose.
func (c control) wait(op string) {
	for {
		b, _ := os.ReadFile(string(c))
		words := strings.FieldsFunc(string(b), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
		if !slices.Contains(words, op) && !slices.Contains(words, "all") {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

type root struct {
	fs.Inode
	control
}

func (r *root) OnAdd(ctx context.Context) {
	data := r.NewPersistentInode(ctx, &file{control: r.control}, fs.StableAttr{Mode: fuse.S_IFREG, Ino: 2})
	r.AddChild("data", data, true)
}

func (r *root) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	r.wait("getattr")
	out.Mode = 0o755 | fuse.S_IFDIR
	return 0
}

func (r *root) Lookup(_ context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	r.wait("lookup")
	c := r.GetChild(name)
	if c == nil {
		return nil, syscall.ENOENT
	}
	out.Size, out.Mode = size, 0o644|fuse.S_IFREG
	return c, 0
}

func (r *root) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	r.wait("opendir")
	return fs.NewListDirStream([]fuse.DirEntry{{Name: "data", Mode: fuse.S_IFREG, Ino: 2}}), 0
}

func (r *root) Statfs(context.Context, *fuse.StatfsOut) syscall.Errno {
	r.wait("statfs")
	return 0
}

type file struct {
	fs.Inode
	control
}

func (f *file) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	f.wait("getattr")
	out.Size, out.Mode = size, 0o644|fuse.S_IFREG
	return 0
}

func (f *file) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	f.wait("open")
	return nil, fuse.FOPEN_DIRECT_IO, 0
}

func (f *file) Read(_ context.Context, _ fs.FileHandle, dest []byte, _ int64) (fuse.ReadResult, syscall.Errno) {
	f.wait("read")
	for i := range dest {
		dest[i] = 'x'
	}
	return fuse.ReadResultData(dest), 0
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "hangfs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("want MOUNTPOINT CONTROL, got %q", args)
	}
	var never time.Duration
	srv, err := fs.Mount(args[0], &root{control: control(args[1])}, &fs.Options{
		AttrTimeout: &never, EntryTimeout: &never, // every access goes to the server
		MountOptions: fuse.MountOptions{FsName: "hangfs", Name: "hangfs", AllowOther: true, DirectMountStrict: true},
	})
	if err != nil {
		return err
	}
	fmt.Println("mounted", args[0])
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		_ = syscall.Unmount(args[0], syscall.MNT_DETACH)
		os.Exit(0)
	}()
	srv.Wait()
	return nil
}
