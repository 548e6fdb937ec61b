//go:build e2e

package outside

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/image"
)

// TestTwoLabsSideBySide: two labs run without an effect on the machine, and leave
// nothing behind.
func TestTwoLabsSideBySide(t *testing.T) {
	before := Look(t)
	t.Cleanup(func() {
		for _, name := range []string{"side-a", "side-b"} {
			if err := lab.Down(context.Background(), name); err != nil {
				t.Error(err)
			}
		}
	})
	Must(t, "up", "--name", "side-a", "--nodes", "2")
	Must(t, "up", "--name", "side-b", "--nodes", "1", "--datastore", "etcd")
	for _, d := range Look(t).Differences(before) {
		if !strings.HasPrefix(d, "namespace ") {
			t.Errorf("with labs running: %s", d)
		}
	}
	if got := Must(t, "list"); !strings.Contains(got, "side-a") || !strings.Contains(got, "side-b") {
		t.Errorf("list prints %q", got)
	}
	t.Run("labs are separate", func(t *testing.T) {
		if got := Must(t, "kubectl", "--name", "side-a", "get", "nodes", "-o", "name"); got != "node/node1\nnode/node2\n" {
			t.Errorf("nodes of side-a: %q", got)
		}
		if got := Must(t, "kubectl", "--name", "side-b", "get", "nodes", "-o", "name"); got != "node/node1\n" {
			t.Errorf("nodes of side-b: %q", got)
		}
	})
	t.Run("clients refuse from outside", func(t *testing.T) {
		if _, err := lab.Open(); !errors.Is(err, lab.ErrOutside) {
			t.Errorf("Open: %v", err)
		}
		if _, err := new(lab.Lab).Do(t.Context(), "GET", "/readyz", ""); !errors.Is(err, lab.ErrOutside) {
			t.Errorf("Do: %v", err)
		}
		if _, err := lab.Up(t.Context(), lab.Config{}, nil); !errors.Is(err, lab.ErrOutside) {
			t.Errorf("Up: %v", err)
		}
		// This only queries the routing table; it sends no packet.
		out, err := exec.CommandContext(t.Context(), "ip", "route", "get", "192.168.77.254").CombinedOutput()
		if err == nil && strings.Contains(string(out), "lab0") {
			t.Errorf("the machine has a route into a lab: %s", out)
		}
	})
	t.Run("labs have no route out", func(t *testing.T) {
		for _, in := range [][]string{{"do", "--name", "side-a", "--"}, {"exec", "--name", "side-a", "node1", "--"}} {
			out := Must(t, append(in, "ip", "-o", "link")...)
			for line := range strings.Lines(out) {
				if strings.Contains(line, "eth0@") != (in[0] == "exec" && strings.Contains(line, "eth0@")) {
					t.Errorf("%v has an interface of the machine: %s", in, line)
				}
			}
		}
		if out := Must(t, "do", "--name", "side-a", "--", "ip", "route"); strings.Contains(out, "default") {
			t.Errorf("the lab has a default route: %s", out)
		}
		if out := Must(t, "do", "--name", "side-a", "--", "ls", "/run"); strings.Contains(out, "systemd") || !strings.Contains(out, "plumbline-lab") {
			t.Errorf("/run is not private to the lab: %s", out)
		}
	})
	t.Run("a node cannot change the machine", func(t *testing.T) {
		for _, cmd := range []string{"touch /usr/x", "sysctl -w vm.swappiness=1", "sysctl -w kernel.pid_max=40000"} {
			if _, _, code := Run(t, append([]string{"exec", "--name", "side-a", "node1", "--"}, strings.Fields(cmd)...)...); code == 0 {
				t.Errorf("%s was possible", cmd)
			}
		}
		Must(t, "exec", "--name", "side-a", "node1", "--", "touch", "/etc/only-here", "/var/only-here")
		if _, _, code := Run(t, "exec", "--name", "side-a", "node2", "--", "ls", "/etc/only-here"); code == 0 {
			t.Error("a file of node1 is on node2")
		}
	})
	t.Run("output for users", func(t *testing.T) {
		status := Must(t, "status", "--name", "side-a")
		for _, part := range []string{"kube-apiserver", "calico-kube-controllers", "kubelet", "containerd", "felix", "kube-proxy"} {
			if !strings.Contains(status, part) {
				t.Errorf("status does not list %s:\n%s", part, status)
			}
		}
		if strings.Contains(status, "exit") || strings.Contains(status, "killed") {
			t.Errorf("a component is down:\n%s", status)
		}
		for _, part := range []string{"kubelet", "containerd", "felix"} {
			if Must(t, "logs", "--name", "side-a", "node1", part) == "" {
				t.Errorf("no log of %s", part)
			}
		}
		if _, diag, code := Run(t, "logs", "--name", "side-a", "node1", "nope"); code != 1 || !strings.Contains(diag, "lab status") {
			t.Errorf("logs of an unknown node: %d, %q", code, diag)
		}
		if _, _, code := Run(t, "exec", "--name", "side-a", "node1", "--", "sh", "-c", "exit 42"); code != 42 {
			t.Errorf("the exit code of a command is %d, want 42", code)
		}
		if got := Must(t, "do", "--name", "side-a", "--", "sh", "-c", "kubectl --kubeconfig $KUBECONFIG get ns default -o name"); got != "namespace/default\n" {
			t.Errorf("do prints %q", got)
		}
	})
	t.Run("an image is imported on every node", func(t *testing.T) {
		tar := filepath.Join(t.TempDir(), "image.tar")
		if err := (image.Image{Ref: "example.com/mine:1", Path: "x", Binary: []byte("x")}).Write(tar); err != nil {
			t.Fatal(err)
		}
		Must(t, "image", "--name", "side-a", tar)
		for _, node := range []string{"node1", "node2"} {
			if got := Must(t, "exec", "--name", "side-a", node, "--", "ctr", "-n", "k8s.io", "images", "ls", "-q"); !strings.Contains(got, "example.com/mine:1") {
				t.Errorf("%s does not have the image: %s", node, got)
			}
		}
	})
	Must(t, "down", "--name", "side-a")
	Must(t, "down", "--name", "side-b")
	NothingLeft(t, before)
}

// TestCommandErrors checks what users read after a mistake.
func TestCommandErrors(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no lab":             {[]string{"status"}, 1, "lab up --name lab"},
		"unknown command":    {[]string{"frobnicate"}, 2, "lab help"},
		"unknown flag":       {[]string{"up", "--nope"}, 2, "nope"},
		"bad datastore":      {[]string{"up", "--datastore", "x"}, 2, "want kdd or etcd"},
		"too many nodes":     {[]string{"up", "--nodes", "201"}, 2, "want 1 to 200"},
		"no scenario":        {[]string{"run"}, 2, "lab scenarios"},
		"unknown scenario":   {[]string{"run", "nope"}, 2, "lab scenarios"},
		"mode not supported": {[]string{"run", "leaked-endpoints", "--datastore", "kdd"}, 2, "runs only on etcd"},
		"no lab to remove":   {[]string{"down", "--name", "nobody"}, 0, ""},
	} {
		_, diag, code := Run(t, c.args...)
		if code != c.code || !strings.Contains(diag, c.says) {
			t.Errorf("%s: exit code %d, prints %q; want %d and %q", name, code, diag, c.code, c.says)
		}
	}
	out := Must(t, "help")
	for line := range strings.Lines(out) {
		if len([]rune(strings.TrimRight(line, "\n"))) > 80 {
			t.Errorf("help is wider than a terminal: %q", line)
		}
	}
}
