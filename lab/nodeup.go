package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plumbline.dev/plumbline/lab/supervise"
)

// createNode creates a node's namespaces and its veth to the lab's bridge, and runs its
// container runtime with the images. It does not need the API server.
func (l *Lab) createNode(ctx context.Context, i int) (*Node, error) {
	name := nodeName(i)
	if err := createCgroups(l.Name, name); err != nil {
		return nil, err
	}
	st, err := l.sup.Start(ctx, supervise.Part{
		Name: name, Argv: []string{initArg0, "node", name}, Env: baseEnv(),
		Log: filepath.Join(stateDir, "log", name+".log"), Namespaces: true, Self: true,
	})
	if err != nil {
		return nil, err
	}
	n := l.node(i, st.PID)
	err = l.await(ctx, name, func(context.Context) error {
		_, err := os.Stat(n.Path(nodeSocket))
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := l.connect(ctx, n); err != nil {
		return nil, fmt.Errorf("connect %s: %w", name, err)
	}
	return n, n.startRuntime(ctx)
}

func (n *Node) startRuntime(ctx context.Context) error {
	if err := n.WriteFile("/etc/containerd/config.toml", n.containerdConfig()); err != nil {
		return err
	}
	if err := n.start(ctx, Containerd, n.containerd("containerd"), "-c", "/etc/containerd/config.toml"); err != nil {
		return err
	}
	return n.runtimeReady(ctx)
}

// runtimeReady waits for the container runtime and imports the images of every node.
func (n *Node) runtimeReady(ctx context.Context) error {
	err := n.await(ctx, Containerd, func(ctx context.Context) error {
		_, err := n.Ctr(ctx, "version")
		return err
	})
	if err != nil {
		return err
	}
	for _, file := range []string{"pause.tar", "workload.tar"} {
		if _, err := n.Ctr(ctx, "images", "import", n.Bin("workload", file)); err != nil {
			return err
		}
	}
	return n.importAgent(ctx)
}

// containerd returns the path of a program of the node's container runtime.
func (n *Node) containerd(name string) string {
	// Debian 11's containerd does not know the CRI that a kubelet of today speaks.
	if n.lab.Containerd == Containerd22 || (n.IsMachine() && n.lab.Machine == "debian11") {
		return n.Bin("containerd", name)
	}
	return filepath.Join("/usr/bin", name)
}

// Ctr runs containerd's ctr in the node, in the namespace of Kubernetes.
func (n *Node) Ctr(ctx context.Context, args ...string) (string, error) {
	return n.Exec(ctx, append([]string{n.containerd("ctr"), "-a", n.layout().socket, "-n", "k8s.io"}, args...)...)
}

// ImportImage imports an image archive in the node's runtime.
func (n *Node) ImportImage(ctx context.Context, file string) error {
	if !n.IsMachine() {
		_, err := n.Ctr(ctx, "images", "import", file)
		return err
	}
	const there = "/var/tmp/image.tar"
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if err := n.Send(ctx, there, f); err != nil {
		return err
	}
	_, err = n.Ctr(ctx, "images", "import", there)
	_, rm := n.Exec(ctx, "rm", there)
	return errors.Join(err, rm)
}

// join adds the node to the cluster: credentials, kubelet, kube-proxy.
func (n *Node) join(ctx context.Context) error {
	l := n.lab
	ca, err := loadAuthority(filepath.Join(stateDir, "pki"))
	if err != nil {
		return err
	}
	err = ca.sign(n.Name, identity{
		user: "system:node:" + n.Name, groups: []string{"system:nodes"}, dns: []string{n.Name},
		ips: append(n.addresses(), nodeAddr6(n.Index)),
	})
	if err != nil {
		return err
	}
	if err := l.writeKubeconfig(ca, n.Name); err != nil {
		return err
	}
	for to, from := range map[string]string{
		"/etc/kubernetes/pki/ca.crt":          "pki/ca.crt",
		"/etc/kubernetes/pki/kubelet.crt":     "pki/" + n.Name + ".crt",
		"/etc/kubernetes/pki/kubelet.key":     "pki/" + n.Name + ".key",
		"/etc/kubernetes/kubelet.conf":        "kubeconfig/" + n.Name + ".conf",
		"/var/lib/kube-proxy/kubeconfig.conf": "kubeconfig/kube-proxy.conf",
	} {
		text, err := os.ReadFile(filepath.Join(stateDir, from))
		if err != nil {
			return err
		}
		if err := n.WriteFile(to, string(text)); err != nil {
			return err
		}
	}
	if err := n.WriteFile("/var/lib/kubelet/config.yaml", n.kubeletConfig()); err != nil {
		return err
	}
	if err := n.WriteFile("/var/lib/kube-proxy/config.yaml", n.kubeProxyConfig()); err != nil {
		return err
	}
	ips := n.Addr().String()
	if l.DualStack {
		ips += "," + nodeAddr6(n.Index).String()
	}
	err = n.start(ctx, Kubelet, n.Bin("kubernetes", "kubelet"), "--config=/var/lib/kubelet/config.yaml",
		"--kubeconfig=/etc/kubernetes/kubelet.conf", "--hostname-override="+n.Name, "--node-ip="+ips, "--v=2")
	if err != nil {
		return err
	}
	if err := n.start(ctx, KubeProxy, n.Bin("kubernetes", "kube-proxy"), "--config=/var/lib/kube-proxy/config.yaml", "--hostname-override="+n.Name); err != nil {
		return err
	}
	return n.await(ctx, Kubelet, n.Ready)
}

// Ready returns nil if the API server reports the node as Ready.
func (n *Node) Ready(ctx context.Context) error {
	var node struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := n.lab.Get(ctx, "/api/v1/nodes/"+n.Name, &node); err != nil {
		return err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == "Ready" {
			if c.Status == "True" {
				return nil
			}
			return fmt.Errorf("%s is not Ready: %s", n.Name, c.Message)
		}
	}
	return errors.New("no Ready condition yet")
}

// start runs a part in the node. Like a service of systemd, it is restarted if it exits
// by itself.
func (n *Node) start(ctx context.Context, name string, argv ...string) error {
	env := baseEnv()
	// The runtime looks for its shim in its own directory first.
	env[0] = "PATH=" + filepath.Dir(n.containerd("containerd")) + ":" + os.Getenv("PATH")
	return n.StartPart(ctx, supervise.Part{Name: name, Argv: argv, Env: env, Log: n.logFile(name), RestartOn: []int{supervise.AnyExit}})
}
