package host

import (
	"strings"
	"testing"
)

func TestParseMountinfo(t *testing.T) {
	t.Parallel()
	in := "36 35 0:52 / /var/lib/kubelet/pods/" + uidA + "/volumes/kubernetes.io~glusterfs/my\\040data rw shared:1 master:2 - fuse.glusterfs gluster1:/vol rw\n" +
		"broken\n37 35 254:0 / / rw - ext4 /dev/vda rw\n"
	got, err := parseMountinfo([]byte(in), nil)
	if err == nil || len(got) != 2 {
		t.Fatalf("got %+v, %v", got, err)
	}
	want := mount{target: "/var/lib/kubelet/pods/" + uidA + "/volumes/kubernetes.io~glusterfs/my data", kind: "fuse.glusterfs", source: "gluster1:/vol", minor: 52}
	if got[0] != want || got[0].device() != "0:52" || podOf(got[0].target) != uidA {
		t.Errorf("got %+v", got[0])
	}
	if got, _ := parseMountinfo([]byte(in), ofInterest); len(got) != 1 || got[0] != want {
		t.Errorf("of interest: %+v", got)
	}
}

func FuzzMountinfo(f *testing.F) {
	f.Add([]byte("36 35 0:52 / /a\\040b rw shared:1 - fuse.x src rw\nx\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, _ := parseMountinfo(b, nil)
		some, _ := parseMountinfo(b, ofInterest)
		if len(some) > len(all) {
			t.Errorf("%q: %d of %d", b, len(some), len(all))
		}
		for _, m := range all {
			id, tail := stateOf(m.target)
			if id != "" && !strings.HasSuffix(m.target, tail) {
				t.Errorf("%q: %q is not the end", m.target, tail)
			}
			_ = serverOf(m.kind, m.source)
		}
	})
}

func TestStateOf(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + cidA + "/rootfs":          cidA,
		"/host/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/" + cidA + "/rootfs": cidA,
		"/run/containerd/io.containerd.grpc.v1.cri/sandboxes/" + cidA + "/shm":              cidA,
		"/var/lib/docker/containers/" + cidA + "/mounts/shm":                                cidA,
		"/run/containers/storage/overlay-containers/" + cidA + "/userdata/shm":              cidA,
		"/var/lib/docker/overlay2/" + cidA + "/merged":                                      cidA,
		"/var/lib/docker/devicemapper/mnt/" + cidA:                                          cidA,
		"/var/lib/kubelet/pods/" + uidA + "/volumes/kubernetes.io~empty-dir/x":              uidA,
		"/var/lib/kubelet/pods/" + uidA + "/volume-subpaths/v/c/0":                          uidA,
		"/var/lib/kubelet/pods/" + uidA + "/etc-hosts":                                      "",
		"/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + cidA + "/rootfs/proc":     "",
		"/": "", "/etc/hosts": "", "/pods/": "",
	} {
		id, tail := stateOf(target)
		if id != want || !strings.HasSuffix(target, tail) {
			t.Errorf("%s: got %q, %q", target, id, tail)
		}
		if id != "" && !mayBeState([]byte(target)) {
			t.Errorf("%s: not even looked at", target)
		}
	}
}

func TestServerOf(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"nfs4", "10.36.3.5:/vol", "10.36.3.5"},
		{"nfs", "[fd00::1]:/vol", "[fd00::1]"},
		{"cifs", "//files/share", "files"},
		{"ceph", "mon1:6789,mon2:6789:/dir", "mon1:6789,mon2:6789"},
		{"fuse.glusterfs", "gluster1:/vol", "gluster1"},
		{"fuse.glusterfs", "gluster1:vol", "gluster1"},
		{"fuse.sshfs", "host:/dir", ""},
		{"ext4", "a:/b", ""},
		{"nfs", "none", ""},
	} {
		if got := serverOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s: got %q", c[0], c[1], got)
		}
	}
}

const stats = `device sysfs mounted on /sys with fstype sysfs
device srv:/a mounted on /mnt/a\040b with fstype nfs4 statvers=1.1
	opts:	rw
	xprt:	tcp 0 1 2 0 0 100 90 0 4000 0 2 0 0
	xprt:	tcp 0 1 2 0 0 10 10 0 4000 0 2 0 0
	per-op statistics
	        NULL: 1 1 0
device srv:/b mounted on /mnt/b with fstype nfs statvers=1.1
	xprt:	udp 0 1 7 5 0 0 0
`

func TestParseMountstats(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]calls{"/mnt/a b": {sent: 110, received: 100}, "/mnt/b": {sent: 7, received: 5}} {
		if got, ok := parseMountstats([]byte(stats), target); !ok || got != want {
			t.Errorf("%s: got %+v, %v", target, got, ok)
		}
	}
	for _, target := range []string{"/sys", "/mnt", "/mnt/a"} {
		if got, ok := parseMountstats([]byte(stats), target); ok {
			t.Errorf("%s: got %+v", target, got)
		}
	}
}

func FuzzMountstats(f *testing.F) {
	f.Add([]byte(stats), "/mnt/b")
	f.Fuzz(func(t *testing.T, b []byte, target string) {
		if c, ok := parseMountstats(b, target); !ok && c != (calls{}) {
			t.Errorf("%q: %+v", b, c)
		}
	})
}
