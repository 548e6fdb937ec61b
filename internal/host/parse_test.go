package host

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	cidA = "17619dcf545c0936b5a5bad416c1fe50064547f49ba3f34721baf4201f242c1b"
	uidA = "2b8e5882-5146-11e9-b3b3-525400dd6f19"
)

func TestParseStatus(t *testing.T) {
	t.Parallel()
	got := parseStatus([]byte("Name:\tx\nNSpid:\t31238\t1\nSigPnd:\t0000000000000100\nShdPnd:\t0000000000000000\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n"))
	if want := (status{depth: 2, first: true, dying: true, switches: 7}); got != want {
		t.Errorf("got %+v", got)
	}
	// The first process of the host is not the first of a container; SIGTERM is not SIGKILL.
	got = parseStatus([]byte("NSpid:\t1\nSigPnd:\t0000000000004000\nShdPnd:\tzz\n"))
	if want := (status{depth: 1}); got != want {
		t.Errorf("got %+v", got)
	}
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte("NSpid:\t31238\t1\nSigPnd:\t0000000000000100\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s := parseStatus(b); s.first && s.depth < 2 {
			t.Errorf("%q: %+v", b, s)
		}
	})
}

func TestParseCgroup(t *testing.T) {
	t.Parallel()
	under := strings.ReplaceAll(uidA, "-", "_")
	const hash = "0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		in   string
		want owner
	}{
		"v2 systemd containerd": {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under + ".slice/cri-containerd-" + cidA + ".scope\n", owner{cidA, uidA}},
		"v2 cgroupfs":           {"0::/kubepods/besteffort/pod" + uidA + "/" + cidA + "\n", owner{cidA, uidA}},
		"guaranteed":            {"0::/kubepods/pod" + uidA + "/" + cidA + "\n", owner{cidA, uidA}},
		"crio":                  {"0::/kubepods.slice/kubepods-pod" + under + ".slice/crio-" + cidA + ".scope/container\n", owner{cidA, uidA}},
		"v1 docker":             {"9:name=systemd:/kubepods.slice/kubepods-pod" + under + ".slice/docker-" + cidA + ".scope\n0::/\n", owner{cidA, uidA}},
		"v1, some at the root":  {"4:memory:/\n3:pids:/kubepods/burstable/pod" + uidA + "/" + cidA + "\n", owner{cidA, uidA}},
		"containerd by name":    {"0::/system.slice/containerd.service/kubepods-besteffort-pod" + under + ".slice:cri-containerd:" + cidA + "\n", owner{cidA, uidA}},
		"static pod":            {"0::/kubelet/kubepods/burstable/pod" + hash + "/" + cidA + "\n", owner{cidA, hash}},
		"in a cgroup namespace": {"0::/../../pod" + uidA + "/" + cidA + "\n", owner{cidA, uidA}},
		"systemd inside":        {"0::/kubepods/pod" + uidA + "/" + cidA + "/init.scope\n", owner{cidA, uidA}},
		"a runtime inside":      {"0::/kubepods/pod" + uidA + "/" + cidA + "/docker/" + strings.Repeat("f", 64) + "\n", owner{cidA, uidA}},
		"removed":               {"0::/kubepods/pod" + uidA + "/" + cidA + " (deleted)\n", owner{cidA, uidA}},
		"pod only":              {"0::/kubepods/pod" + uidA + "\n", owner{"", uidA}},
		"docker alone":          {"0::/system.slice/docker-" + cidA + ".scope\n", owner{cidA, ""}},
		"conmon is not it":      {"0::/kubepods.slice/kubepods-pod" + under + ".slice/crio-conmon-" + cidA + ".scope\n", owner{"", uidA}},
		"a service":             {"0::/system.slice/kubelet.service\n", owner{}},
		"rubbish":               {"pod\n:::\n0::/podium/pod/pod-x\n", owner{}},
	} {
		if got := parseCgroup([]byte(c.in)); got != c.want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func FuzzCgroup(f *testing.F) {
	f.Add([]byte("0::/kubepods/pod" + uidA + "/" + cidA + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if o := parseCgroup(b); o.container != "" && len(o.container) != 64 || o.pod != "" && len(o.pod) != 36 && len(o.pod) != 32 {
			t.Errorf("%q: %+v", b, o)
		}
	})
}

func TestParseEnviron(t *testing.T) {
	t.Parallel()
	env := []byte("PATH=/bin\x00CNI_COMMAND=DEL\x00CNI_CONTAINERID=" + cidA + "\x00CNI_COMMAND=ADD\x00CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=db-0;TOKEN=secret\x00FELIX_BPFENABLED=true\x00ETCD_PASSWORD=secret\x00NODENAME\x00=\x00")
	cmd, id, pod := parseCall(env)
	set, _ := parseSettings(env)
	if cmd != "DEL" || id != cidA || pod != "shop/db-0" || !maps.Equal(set, map[string]string{"FELIX_BPFENABLED": "true"}) {
		t.Errorf("got %q %q %v", cmd, id, set)
	}
	for _, args := range []string{"", "K8S_POD_NAME=a", "K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;K8S_POD_NAME=c", "K8S_POD_NAMESPACE=;K8S_POD_NAME=b"} {
		if pod := podOfArgs([]byte(args)); pod != "" {
			t.Errorf("%q is of %q", args, pod)
		}
	}
	if !felixArgs([]byte("calico-node\x00-felix\x00")) || felixArgs([]byte("calico-node\x00-felix-live\x00")) {
		t.Error("felix by its arguments")
	}
}

func FuzzEnviron(f *testing.F) {
	f.Add([]byte("CNI_COMMAND=DEL\x00CNI_CONTAINERID=x\x00FELIX_BPFENABLED=true"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if command, container, pod := parseCall(b); len(command) > maxValue || len(container) > maxValue || len(pod) > 2*maxValue+1 {
			t.Errorf("%q: %q %q", b, command, container)
		}
		set, refused := parseSettings(b)
		for k, v := range set {
			if !settings[k] || !plausible(k, []byte(v)) || slices.Contains(refused, k) {
				t.Errorf("%q: %q=%q", b, k, v)
			}
		}
		if len(set)+len(refused) > len(settings) {
			t.Errorf("%q: %q %q", b, set, refused)
		}
	})
}

func TestMachineWords(t *testing.T) {
	t.Parallel()
	if parseUptime([]byte("12345.67 8.9\n")) != 12345 || parseUptime([]byte("x")) != 0 || parseUptime(nil) != 0 {
		t.Error("uptime")
	}
	if parseInode("net:[4026531840]") != 4026531840 || parseInode("net") != 0 || parseInode("") != 0 {
		t.Error("inode")
	}
	if got := word([]byte(" node-1\n")); got != "node-1" {
		t.Errorf("word: %q", got)
	}
}

func TestMountsOf(t *testing.T) {
	t.Parallel()
	table := []mount{
		{target: "/", kind: "overlay"},
		{target: "/proc", kind: "proc"},
		{target: "/data", kind: "ext4"},
		{target: "/data/vol", kind: "fuse.glusterfs"},
		{target: "/data/vol", kind: "xfs"}, // covers the one below
		{target: "/hang", kind: "nfs4"},
	}
	got := mountsOf(table, []string{"/proc/1/stat", "/data/volume", "/data/vol/x", "/hang", "/hang/y (deleted)", "pipe:[1]", "/hanging"})
	if want := []string{"/hang", "/", "/data", "/data/vol"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
