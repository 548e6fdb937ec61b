package cri

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestMain lets the test binary be the network plugin of the containerds below: it hands
// out one address and touches nothing. The runtime that is asked is a real one.
func TestMain(m *testing.M) {
	switch os.Getenv("CNI_COMMAND") {
	case "":
		os.Exit(m.Run())
	case "ADD":
		_, _ = fmt.Fprintf(os.Stdout, `{"cniVersion":"0.4.0","interfaces":[{"name":"eth0","sandbox":%q}],"ips":[{"version":"4","address":"192.0.2.7/32","interface":0}]}`,
			os.Getenv("CNI_NETNS"))
	case "VERSION":
		_, _ = os.Stdout.WriteString(`{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0"]}`)
	}
}

// A daemon is a containerd of our own, with nothing outside of its directory and its mounts
// but a control group.
type daemon struct {
	t      *testing.T
	dir    string
	bin    string // where its programs are
	socket string
	pid    int
	root   string // of its files
}

const config = `version = 2
root = "%[1]s/root"
state = "%[1]s/state"
[grpc]
  address = "%[1]s/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "%[1]s/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10"
  restrict_oom_score_adj = true
  disable_tcp_service = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "%[1]s/bin"
    conf_dir = "%[1]s/net.d"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
`

// start runs bin/containerd until the test ends.
func start(t *testing.T, bin string) *daemon {
	t.Helper()
	dir, err := os.MkdirTemp("", "cri") //nolint:usetesting // short: it becomes part of a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("left behind: %v", err)
		}
	})
	d := &daemon{t: t, dir: dir, bin: bin, socket: filepath.Join(dir, "containerd.sock")}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"bin", "net.d"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, plugin := range []string{"still", "loopback"} {
		if err := os.Symlink(self, filepath.Join(dir, "bin", plugin)); err != nil {
			t.Fatal(err)
		}
	}
	d.write("net.d/10-still.conflist", `{"cniVersion":"0.4.0","name":"still","plugins":[{"type":"still"}]}`)
	d.write("config.toml", fmt.Sprintf(config, dir))
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(bin, "containerd"), "--config", filepath.Join(dir, "config.toml"))
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = log, log
	// With its own mounts, as a node seen from a pod has: they end with it, and we reach
	// its files only through its root.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Unshareflags: syscall.CLONE_NEWNS}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d.pid = cmd.Process.Pid
	d.root = fmt.Sprintf("/proc/%d/root", d.pid)
	t.Cleanup(func() {
		if t.Failed() {
			said, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Logf("containerd: %s", said[max(0, len(said)-3000):])
		}
		d.signal(syscall.SIGCONT)
		d.signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = log.Close()
	})
	d.ready()
	return d
}

func (d *daemon) write(name, text string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *daemon) signal(s syscall.Signal) {
	if err := syscall.Kill(d.pid, s); err != nil {
		d.t.Errorf("signal containerd: %v", err)
	}
}

// ready waits until the daemon answers.
func (d *daemon) ready() {
	d.t.Helper()
	c := d.open()
	for range 150 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := c.api.Version(ctx, &runtime.VersionRequest{})
		cancel()
		if err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	d.t.Fatal("containerd does not come up")
}

func (d *daemon) open() *Client {
	c := Open("/", At(d.socket))
	d.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (d *daemon) ctr(args ...string) {
	d.t.Helper()
	out, err := exec.Command(filepath.Join(d.bin, "ctr"), append([]string{"-a", d.socket, "-n", "k8s.io"}, args...)...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("ctr %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// run makes a sandbox, and removes it before the daemon ends.
func (d *daemon) run(c *Client, name string, host bool) string {
	d.t.Helper()
	group := "/plumbline-" + filepath.Base(d.dir)
	net := runtime.NamespaceMode_POD
	if host {
		net = runtime.NamespaceMode_NODE
	}
	a, err := c.api.RunPodSandbox(context.Background(), &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{
		Metadata: &runtime.PodSandboxMetadata{Name: name, Namespace: "shop", Uid: "u-" + name, Attempt: 3},
		Linux: &runtime.LinuxPodSandboxConfig{
			CgroupParent:    group,
			SecurityContext: &runtime.LinuxSandboxSecurityContext{NamespaceOptions: &runtime.NamespaceOption{Network: net}},
		},
	}})
	if err != nil {
		d.t.Fatalf("run sandbox: %v", err)
	}
	id := a.GetPodSandboxId()
	d.t.Cleanup(func() {
		d.signal(syscall.SIGCONT)
		d.stop(c, id)
		if _, err := c.api.RemovePodSandbox(context.Background(), &runtime.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
			d.t.Errorf("remove sandbox: %v", err)
		}
		for _, at := range []string{"", "*/"} { // with control groups of version 2, or of 1
			dirs, _ := filepath.Glob("/sys/fs/cgroup/" + at + strings.TrimPrefix(group, "/"))
			for _, g := range dirs {
				_ = os.Remove(g)
			}
		}
	})
	return id
}

func (d *daemon) stop(c *Client, id string) {
	d.t.Helper()
	if _, err := c.api.StopPodSandbox(context.Background(), &runtime.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		d.t.Errorf("stop sandbox: %v", err)
	}
}
