//go:build e2e

package guard

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// TestUninstall deletes the guard in the ways that people do: no node's CNI configuration names it
// then, and pods start. A rollout, which stops every guard daemon too, leaves it in force.
func TestUninstall(t *testing.T) {
	l := start(t, lab.Config{Nodes: 2, Datastore: lab.KDD}, "enforce")
	kubectl := func(args ...string) string {
		t.Helper()
		out, err := l.Kubectl(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	image := kubectl("-n", lab.AgentNamespace, "get", "daemonset", "plumbline-agent", "-o", "jsonpath={.spec.template.spec.containers[0].image}")

	kubectl("-n", lab.AgentNamespace, "rollout", "restart", "daemonset/plumbline-agent")
	for done := false; !done; {
		if bare := unguarded(t, l); len(bare) > 0 {
			t.Fatalf("during a rollout %q do not have the guard", bare)
		}
		_, err := l.Kubectl(t.Context(), "-n", lab.AgentNamespace, "rollout", "status", "daemonset/plumbline-agent", "--timeout=1s")
		done = err == nil
	}
	inForce(t, l, "enforce")

	out, code, err := stage.Plumbline(t.Context(), l, product.Binary(t), t.TempDir(), "guard", "uninstall")
	if t.Log(out); err != nil || code != 0 || !strings.Contains(out, "2 nodes: no CNI configuration names the guard.") {
		t.Errorf("guard uninstall: exit code %d, %v", code, err)
	}
	traceless(t, l, "guard uninstall")
	switchTo(t, l, "enforce")

	kubectl("delete", "namespace", lab.AgentNamespace, "--timeout=90s")
	traceless(t, l, "the namespace is deleted")
	product.RemoveGuard(t, l) // what is of no namespace

	product.Helm(t, l, "install", "plumbline", product.Chart(t), "-n", lab.AgentNamespace, "--create-namespace", "--wait", "--timeout=90s",
		"--set", "guard.enabled=true,guard.mode=enforce,image.pullPolicy=Never,image.tag="+image[strings.LastIndex(image, ":")+1:])
	inForce(t, l, "enforce")
	product.Helm(t, l, "uninstall", "plumbline", "-n", lab.AgentNamespace, "--wait", "--timeout=90s")
	traceless(t, l, "helm uninstall")
}

// unguarded returns the nodes whose CNI configuration does not name the guard.
func unguarded(t *testing.T, l *lab.Lab) (out []string) {
	t.Helper()
	for i := range l.Nodes {
		n, err := l.Node(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		if len(naming(t, n)) == 0 {
			out = append(out, n.Name)
		}
	}
	return out
}

// naming returns the files of a node's CNI configuration that name the guard.
func naming(t *testing.T, n *lab.Node) (out []string) {
	t.Helper()
	files, err := filepath.Glob(n.Path("/etc/cni/net.d") + "/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", n.Name, len(files), err)
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte("plumbline")) {
			out = append(out, filepath.Base(file))
		}
	}
	return out
}

// traceless requires that no node names the guard, and that a pod starts on each.
func traceless(t *testing.T, l *lab.Lab, after string) {
	t.Helper()
	if err := lab.Eventually(t.Context(), 30*time.Second, func(context.Context) error {
		for i := range l.Nodes {
			n, err := l.Node(t.Context(), i+1)
			if err != nil {
				return err
			}
			if files := naming(t, n); len(files) > 0 {
				return fmt.Errorf("after %s %s of %s name the guard", after, files, n.Name)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	s := &stage.Stage{Lab: l, Namespace: "default", Tell: func(line string) { t.Log(line) }}
	for i := range l.Nodes {
		n, err := l.Node(t.Context(), i+1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), stage.PodSpec{Name: fmt.Sprintf("after-%d", time.Now().UnixNano()), Node: n.Name}); err != nil {
			t.Errorf("after %s: %v", after, err)
		}
	}
}
