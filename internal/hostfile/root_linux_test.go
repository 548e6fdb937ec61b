package hostfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A node has files that lead where a confined reader must not go, or that block it.
func node(t *testing.T) Root {
	t.Helper()
	outside := t.TempDir()
	dir := filepath.Join(outside, "host")
	for _, d := range []string{"a/b/c", "opt/x", "run/netns", "var"} {
		must(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600))
	for name, text := range map[string]string{"a/file": "inside", "run/netns/x": "namespace", "huge": strings.Repeat("x", 1<<16), "secret": "the node's own"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for link, to := range map[string]string{
		"abs": "/a/b", "rel": "a/../a/b", "a/up": "../opt", "escape": "../../../../../a/b/c", "loop": "loop", "loop1": "loop2", "loop2": "loop1",
		"out": outside, "outfile": outside + "/secret", "upfile": "../secret", "chain": "/abs/c", "absfile": "/a/file", "topipe": "/pipe",
		"var/run": "/run", "var/relrun": "../run", "magic": "/proc/self/root",
	} {
		must(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	return Root(dir)
}

// Both ways to open give the same: with openat2, and without it.
func TestRootReadsOnlyTheNode(t *testing.T) {
	t.Parallel()
	root := node(t)
	for name, c := range map[string]struct {
		want string
		err  error // ErrNotExist: the path is missing on the node, whatever this machine has there
	}{
		"/a/file":            {want: "inside"},
		"a/file":             {want: "inside"},
		"absfile":            {want: "inside"},
		"/rel/../file":       {want: "inside"},
		"/var/run/netns/x":   {want: "namespace"},
		"var/relrun/netns/x": {want: "namespace"},
		"/../../a/file":      {want: "inside"},
		"upfile":             {want: "the node's own"}, // .. of the root is the root
		"/../secret":         {want: "the node's own"},
		"out/secret":         {err: fs.ErrNotExist},
		"outfile":            {err: fs.ErrNotExist},
		"missing":            {err: fs.ErrNotExist},
		"magic/etc/passwd":   {err: fs.ErrNotExist},
		"/a":                 {err: ErrNotRegular},
		"/pipe":              {err: ErrNotRegular},
		"topipe":             {err: ErrNotRegular},
		"huge":               {err: ErrTooBig},
		"loop":               {err: errors.ErrUnsupported}, // any error
		"/loop1/x":           {err: errors.ErrUnsupported},
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			got, err := root.ReadFile(name, 1<<10)
			check(t, "ReadFile "+name, string(got), err, c.want, c.err)
			got, err = readOld(root, name, 1<<10)
			check(t, "without openat2 "+name, string(got), err, c.want, c.err)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: the read blocks", name)
		}
	}
}

func readOld(root Root, name string, limit int64) ([]byte, error) {
	fd, err := root.openResolved(name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer func() { _ = f.Close() }()
	return ReadOpen(f, limit)
}

func check(t *testing.T, what, got string, err error, want string, wantErr error) {
	t.Helper()
	switch {
	case wantErr == nil && (err != nil || got != want):
		t.Errorf("%s: %q, %v; want %q", what, got, err, want)
	case wantErr != nil && (err == nil || got != ""):
		t.Errorf("%s: %q, %v; want an error", what, got, err)
	case wantErr != nil && !errors.Is(wantErr, errors.ErrUnsupported) && !errors.Is(err, wantErr):
		t.Errorf("%s: %v; want %v", what, err, wantErr)
	}
}

// With O_NOFOLLOW and with O_PATH the last element is what it is.
func TestRootOpensLinksThemselves(t *testing.T) {
	t.Parallel()
	root := node(t)
	if f, err := root.Open("absfile", unix.O_RDONLY|unix.O_NOFOLLOW); !errors.Is(err, unix.ELOOP) {
		t.Errorf("%v, %v", f, err)
	}
	if _, err := root.openResolved("absfile", unix.O_RDONLY|unix.O_NOFOLLOW); !errors.Is(err, unix.ELOOP) {
		t.Error(err)
	}
	for name, kind := range map[string]fs.FileMode{"absfile": fs.ModeSymlink, "pipe": fs.ModeNamedPipe, "/var/run/netns": fs.ModeDir} {
		f, err := root.Open(name, unix.O_PATH|unix.O_NOFOLLOW)
		must(t, err)
		st, err := f.Stat()
		if err != nil || st.Mode().Type() != kind {
			t.Errorf("%s: %v, %v", name, st, err)
		}
		must(t, f.Close())
	}
	if _, err := Root(string(root)+"/missing").Open("x", unix.O_RDONLY); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/missing:") {
		t.Error(err)
	}
}

func TestRootResolves(t *testing.T) {
	t.Parallel()
	root := node(t)
	for from, want := range map[string]string{
		"/a/b/c": "/a/b/c", "/abs/c": "/a/b/c", "/rel": "/a/b", "/a/up/x": "/opt/x", "/escape": "/a/b/c", "/chain": "/a/b/c", "/": "/", "/../../a": "/a",
		"/loop": "", "/loop1": "", "/out": "", "/missing": "", "a": "", "": "",
	} {
		got, err := root.Resolve(from)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", from, got, err, want)
		}
	}
	if got, err := root.MakeDir("/abs/new/dir", 0o700); err != nil || got != "/a/b/new/dir" {
		t.Errorf("%q, %v", got, err)
	}
	if st, err := os.Stat(root.Path("a/b/new/dir")); err != nil || !st.IsDir() || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st, err)
	}
	if _, err := root.MakeDir("/loop/x", 0o700); err == nil {
		t.Error("made a directory below a loop")
	}
	if _, err := root.MakeDir("/a/file", 0o700); err == nil {
		t.Error("a file is a directory")
	}
}

// A path with .. is opened although the node mounts and renames all the time.
func TestRootOpensWhileTheNodeChanges(t *testing.T) {
	t.Parallel()
	root := node(t)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
				_ = os.Rename(root.Path([]string{"opt", "opt2"}[i%2]), root.Path([]string{"opt2", "opt"}[i%2]))
			}
		}
	}()
	for range 20000 {
		if _, err := root.ReadFile("var/relrun/netns/x", 100); err != nil {
			t.Error(err)
			break
		}
	}
	close(end)
	<-ended
}
