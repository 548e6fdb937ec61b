package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An image lies on a file system if one of the overlay's directories may: by what each runtime
// and snapshotter writes into the options.
func TestLayersOn(t *testing.T) {
	t.Parallel()
	const fuse = "/data/fuse"
	host := space{dir: "/proc/1", pid: 1, host: true}
	in := func(target, options string) []space {
		h, pod := host, space{dir: "/proc/70", pid: 70, owner: owner{pod: uidA}}
		h.mounts = []mount{{target: fuse, kind: "fuse.x", source: "x", minor: 52}, {target: "/", kind: "ext4", major: 254}}
		pod.mounts = []mount{{target: target, kind: "overlay", source: "overlay", options: options, minor: 60}}
		return []space{h, pod}
	}
	for name, c := range map[string]struct {
		spaces []space
		is     bool
	}{
		"a lower directory":        {in("/", "rw,lowerdir=/a:/data/fuse/1/fs:/b,upperdir=/c,workdir=/d"), true},
		"the mount itself":         {in("/", "lowerdir=/data/fuse"), true},
		"the upper directory":      {in("/", "lowerdir=/a,upperdir=/data/fuse/up,workdir=/w"), true},
		"the work directory":       {in("/", "lowerdir=/a,upperdir=/u,workdir=/data/fuse/w"), true},
		"appended one by one":      {in("/", "lowerdir+=/a,lowerdir+=/data/fuse/1"), true},
		"only for data":            {in("/", "lowerdir=/a::/b,datadir+=/data/fuse/1"), true},
		"an escaped colon":         {in("/", `lowerdir=/a\:b:/data/fuse/1\:2`), true},
		"an escaped comma":         {in("/", `lowerdir=/a\,b,upperdir=/data/fuse/x\,y`), true},
		"shortened by containerd":  {in("/", "lowerdir=fuse/1/fs:2/fs"), true},
		"shortened, the target":    {in("/", "lowerdir=data/fuse"), true},
		"with dots":                {in("/", "lowerdir=/data/other/../fuse/1"), true},
		"beside it":                {in("/", "lowerdir=/data/fuse2:/data,upperdir=/u"), false},
		"shortened, another":       {in("/", "lowerdir=1/fs:2/fs"), false},
		"of docker":                {in("/var/lib/docker/overlay2/x/merged", "lowerdir=/var/lib/docker/overlay2/l/ABC:/var/lib/docker/overlay2/l/DEF,upperdir=/var/lib/docker/overlay2/x/diff,workdir=/var/lib/docker/overlay2/x/work"), false},
		"a word of another option": {in("/", "rw,index=/data/fuse,uuid=lowerdir"), false},
		"no options":               {in("/", ""), false},
		"torn options":             {in("/", `lowerdir=/a\`), false},
	} {
		h := &Host{o: Options{Sys: t.TempDir()}}
		if got := h.layersOn("0:52", c.spaces); (len(got) > 0) != c.is {
			t.Errorf("%s: %q", name, got)
		}
	}
	for target, is := range map[string]bool{
		"/var/lib/containerd-stargz-grpc/snapshotter/snapshots/12/fs": true, "/run/containerd-stargz-grpc/mnt": true,
		"/var/lib/containerd/io.containerd.snapshotter.v1.nydus/snapshots/3/mnt": true, "/var/lib/containerd-nydus/mnt": true, "/var/lib/soci-snapshotter-grpc/snapshotter/snapshots/1/fs": true, "/var/lib/stargz-store/store": true,
		"/mnt/gluster": false, "/var/lib/kubelet/pods/" + uidA + "/volumes/kubernetes.io~csi/x/mount": false,
	} {
		h, s := &Host{o: Options{Sys: t.TempDir()}}, host
		s.mounts = []mount{{target: target, kind: "fuse.rawBridge", source: "stargz", minor: 52}}
		if got := h.layersOn("0:52", []space{s}); (len(got) > 0) != is {
			t.Errorf("%s: %q", target, got)
		}
	}
}

// The root of one container, which fuse-overlayfs serves, holds nothing of others.
func TestLayersOnTheRootOfAContainer(t *testing.T) {
	t.Parallel()
	h := &Host{o: Options{Sys: t.TempDir()}}
	root := space{dir: "/proc/70", owner: owner{pod: uidA}, mounts: []mount{{target: "/", kind: "fuse.fuse-overlayfs", minor: 52}}}
	other := space{dir: "/proc/80", mounts: []mount{{target: "/", kind: "overlay", options: "lowerdir=/a", minor: 60}}}
	if got := h.layersOn("0:52", []space{root, other}); len(got) != 0 {
		t.Errorf("%q", got)
	}
	root.mounts = append(root.mounts, mount{target: "/var/lib/docker/x/merged", kind: "overlay", options: "lowerdir=/var/lib/docker/l", minor: 61})
	if got := h.layersOn("0:52", []space{root, other}); len(got) != 1 {
		t.Errorf("docker inside of the container: %q", got)
	}
}

// A loop device with its file on the file system, a device-mapper device made of that one, and an
// overlay on top of what is mounted from it.
func TestLayersOnBlockDevices(t *testing.T) {
	t.Parallel()
	sys := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(sys, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sys, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("block/loop0/loop/backing_file", "/other/file\n")
	put("block/loop0/dev", "7:0\n")
	put("block/loop3/loop/backing_file", "/data/fuse/image.raw (deleted)\n")
	put("block/loop3/dev", "7:3\n")
	put("block/dm-1/slaves/loop3/dev", "")
	put("block/dm-1/dev", "253:1\n")
	put("block/dm-2/slaves/dm-1/dev", "")
	put("block/dm-2/dev", "253:2\n")
	put("block/dm-5/slaves/sda1/dev", "")
	put("block/dm-5/dev", "253:5\n")
	h := &Host{o: Options{Sys: sys}}
	s := space{dir: "/proc/1", pid: 1, host: true, mounts: []mount{
		{target: "/data/fuse", kind: "fuse.x", minor: 52},
		{target: "/srv/image", kind: "ext4", major: 253, minor: 2},
		{target: "/run/x/rootfs", kind: "overlay", options: "lowerdir=/srv/image/layer", minor: 60},
	}}
	got := strings.Join(h.layersOn("0:52", []space{s}), "; ")
	for _, want := range []string{"block device 7:3", "block device 253:1", "block device 253:2 at /srv/image", "an overlay at /run/x/rootfs"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "7:0") || strings.Contains(got, "253:5") {
		t.Error(got)
	}
}

// The users of a file system are known only if every mount of it is a pod's, or the kubelet's own.
func TestUsersKnown(t *testing.T) {
	t.Parallel()
	volume := "/var/lib/kubelet/pods/" + uidA + "/volumes/kubernetes.io~glusterfs/x"
	for name, c := range map[string]struct {
		host, pod []string
		known     bool
	}{
		"a volume":                      {[]string{volume}, []string{"/data"}, true},
		"staged before":                 {[]string{"/var/lib/kubelet/plugins/kubernetes.io/csi/pv/x/globalmount", volume}, nil, true},
		"of the host too":               {[]string{volume, "/mnt/gluster"}, []string{"/data"}, false},
		"of the host, bound into a pod": {[]string{"/mnt/gluster"}, []string{"/data"}, false},
		"shared with a virtual machine": {[]string{"/run/kata-containers/shared/sandboxes/x/mounts/y"}, nil, false},
		"in a pod's own namespace only": {nil, []string{"/data"}, true},
		"staged, and nobody's":          {[]string{"/var/lib/kubelet/plugins/x/globalmount"}, nil, true},
		"nowhere":                       {nil, nil, false},
	} {
		spaces := []space{{dir: "/proc/1", host: true}, {dir: "/proc/70", owner: owner{pod: uidA}}}
		for i, targets := range [][]string{c.host, c.pod} {
			for _, target := range targets {
				spaces[i].mounts = append(spaces[i].mounts, mount{target: target, kind: "fuse.x", minor: 52}, mount{target: "/elsewhere", kind: "ext4", major: 8})
			}
		}
		if got := usersKnown("0:52", spaces); got != c.known {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func FuzzOverlayDirs(f *testing.F) {
	f.Add("rw,lowerdir=/a:/b,upperdir=/c")
	f.Add(`lowerdir=\`)
	f.Fuzz(func(t *testing.T, options string) {
		m := mount{options: options}
		absolute, relative := m.overlayDirs()
		for _, p := range slices.Concat(absolute, relative) {
			if p == "" {
				t.Errorf("%q has an empty directory", options)
			}
		}
	})
}
