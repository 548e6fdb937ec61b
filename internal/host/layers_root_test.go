package host

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// A layerfs is a FUSE file system with the file data, as a layer of an image that is read from a
// registry when it is needed. While it hangs it answers nothing.
type layerfs struct {
	*hangfs
	hangs atomic.Bool
	back  chan struct{} // closed when it no longer hangs
}

const layerText = "what the image has"

// FUSE's operations that reading one file takes.
const (
	opLookup  = 1
	opGetattr = 3
	opOpen    = 14
	opRead    = 15
	opOpendir = 27
)

// attributes are FUSE's of the root or of the file.
func attributes(node uint64) []byte {
	b := make([]byte, 88)
	mode, size := uint32(unix.S_IFREG|0o444), uint64(len(layerText))
	if node == 1 {
		mode, size = unix.S_IFDIR|0o755, 0
	}
	binary.LittleEndian.PutUint64(b, node)
	binary.LittleEndian.PutUint64(b[8:], size)
	binary.LittleEndian.PutUint32(b[60:], mode)
	binary.LittleEndian.PutUint32(b[64:], 1)
	return b
}

func (l *layerfs) serve() {
	b := make([]byte, 1<<17)
	for {
		n, err := l.device.Read(b)
		switch {
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return
		case n < 40:
			continue
		}
		op, unique, node := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])
		if op != opInit && l.hangs.Load() {
			<-l.back
		}
		switch op {
		case opInit:
			out := make([]byte, 64)
			binary.LittleEndian.PutUint32(out, 7)
			binary.LittleEndian.PutUint32(out[4:], 31)
			binary.LittleEndian.PutUint32(out[20:], 4096)
			l.reply(unique, out)
		case opLookup:
			if strings.TrimRight(string(b[40:n]), "\x00") != "data" {
				l.refuse(unique, unix.ENOENT)
				continue
			}
			out := make([]byte, 40)
			binary.LittleEndian.PutUint64(out, 2)
			l.reply(unique, append(out, attributes(2)...))
		case opGetattr:
			l.reply(unique, append(make([]byte, 16), attributes(node)...))
		case opOpen, opOpendir:
			out := make([]byte, 16)
			binary.LittleEndian.PutUint32(out[8:], 1) // nothing is kept in the page cache
			l.reply(unique, out)
		case opRead:
			l.reply(unique, []byte(layerText)[min(int(binary.LittleEndian.Uint64(b[48:])), len(layerText)):])
		case opStatfs:
			l.reply(unique, make([]byte, 80))
		case 18, 25, 28, 29: // release, flush, readdir, releasedir
			l.reply(unique, nil)
		case 2, 36, 42: // forget, interrupt: no answer
		default:
			l.refuse(unique, unix.ENOSYS)
		}
	}
}

func (l *layerfs) refuse(unique uint64, errno unix.Errno) {
	out := make([]byte, 16)
	binary.LittleEndian.PutUint32(out, 16)
	binary.LittleEndian.PutUint32(out[4:], -uint32(errno))
	binary.LittleEndian.PutUint64(out[8:], unique)
	_, _ = l.device.Write(out)
}

// TestRootAbortUnderOverlay: a running pod's image is an overlay of a FUSE layer, which hangs for
// a while. Nothing of the kernel names the pod as its user. It is never aborted, and when it is
// back the pod reads its image again.
func TestRootAbortUnderOverlay(t *testing.T) {
	inside(t, func(t *testing.T, g ground) {
		for name, at := range map[string]struct {
			dir, lower string // relative: as containerd shortens them
		}{
			"plain":       {"layers/plain/fs", ""},
			"snapshotter": {"containerd-stargz-grpc/snapshotter/snapshots/1/fs", ""},
			"relative":    {"short/7/fs", "7/fs"},
		} {
			fs, err := newHang(filepath.Join(g.dir, at.dir))
			if err != nil {
				t.Fatal(err)
			}
			l := &layerfs{hangfs: fs, back: make(chan struct{})}
			go l.serve()
			top, root := filepath.Join(g.dir, "short", "top"+name), filepath.Join(g.dir, "run/rootfs"+name)
			for _, d := range []string{top, root} {
				if err := os.MkdirAll(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			lower := top + ":" + fs.dir
			if at.lower != "" {
				t.Chdir(filepath.Join(g.dir, "short"))
				lower = "top" + name + ":" + at.lower
			}
			if err := unix.Mount("overlay", root, "overlay", unix.MS_RDONLY, "lowerdir="+lower); err != nil {
				t.Fatalf("%s: mount the image: %v", name, err)
			}
			image := func() string { b, err := os.ReadFile(filepath.Join(root, "data")); return string(b) + errorText(err) }
			if got := image(); got != layerText {
				t.Fatalf("%s: the image has %q", name, got)
			}
			l.hangs.Store(true)
			spawn(t, "statfs "+fs.dir)
			waits(t, g, fs.minor, true)
			h := g.host()
			f := g.filesystem(t, fs.dir)
			if len(f.Layers) == 0 || f.Known {
				t.Errorf("%s: %+v", name, f)
			}
			for _, claim := range []Filesystem{f, with(f, func(f *Filesystem) { f.Layers = nil }), with(f, func(f *Filesystem) { f.Layers, f.Known = nil, true })} {
				if begun, err := h.Abort(t.Context(), claim, nil, false); begun || err == nil {
					t.Errorf("%s: aborted as %+v: %v", name, claim, err)
				}
			}
			l.hangs.Store(false)
			close(l.back)
			waits(t, g, fs.minor, false)
			if got := image(); got != layerText {
				t.Errorf("%s: it is back, and the image has %q", name, got)
			}
			h.Close()
			_ = unix.Unmount(root, unix.MNT_DETACH)
			fs.abort(t, g.sys)
		}
	})
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
