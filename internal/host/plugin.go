package host

import (
	"debug/buildinfo"
	"io/fs"
	"os"
	"path"
	"regexp"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/hostfile"
)

// usualPlugins are the directories of CNI plugins where the runtime names none: upstream's,
// OpenShift's, k3s', MicroK8s', Debian's.
var usualPlugins = []string{
	"/opt/cni/bin", "/var/lib/cni/bin", "/var/lib/rancher/k3s/data/cni", "/var/snap/microk8s/current/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni",
}

// A calicoPlugin is Calico's CNI plugin as a file, and the version that its program has recorded.
type calicoPlugin struct {
	file    fs.FileInfo
	version string
}

func (p *calicoPlugin) is(now fs.FileInfo) bool {
	return p != nil && os.SameFile(p.file, now) && p.file.Size() == now.Size() && p.file.ModTime().Equal(now.ModTime())
}

// stamped is how Calico's builds record their version: since v3.30, and before.
var stamped = regexp.MustCompile(`-X '?(?:[\w./-]+/buildinfo\.(?:Git)?Version|main\.VERSION)=(v?[0-9]+\.[0-9]+[\w.+-]{0,60})`)

// pluginVersion is the version of Calico's CNI plugin, from the build information of the first
// program of that name that the runtime would run; it is never run. Empty: unknown.
func (h *Host) pluginVersion() string {
	dirs := usualPlugins
	if h.o.Plugins != nil {
		if named := h.o.Plugins(); len(named) > 0 {
			dirs = named
		}
	}
	for _, dir := range dirs {
		f, err := hostfile.Root(h.o.Root).Open(path.Join(dir, "calico"), unix.O_RDONLY|unix.O_NONBLOCK)
		if err != nil {
			continue
		}
		defer func() { _ = f.Close() }()
		st, err := f.Stat()
		if err != nil || !st.Mode().IsRegular() {
			return ""
		}
		if last := h.plugin.Load(); last.is(st) {
			return last.version
		}
		now := calicoPlugin{file: st}
		if info, err := buildinfo.Read(f); err == nil {
			for _, s := range info.Settings {
				if m := stamped.FindStringSubmatch(s.Value); s.Key == "-ldflags" && m != nil {
					now.version = m[1]
				}
			}
		}
		h.plugin.Store(&now)
		return now.version
	}
	return ""
}
