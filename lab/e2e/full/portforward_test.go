//go:build e2e

package full

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/e2e/product"
	"plumbline.dev/plumbline/lab/stage"
)

// TestPortForward closes the agents' port to everything but the node itself, as a narrow security
// group does: through the proxy no node answers, and that is said; by port-forward all do, for
// users with that right, and to no other pod of the namespace.
func TestPortForward(t *testing.T) {
	l := lab.Start(t, lab.Config{Nodes: 2, Datastore: lab.KDD})
	installWith(t, l, lab.AgentNamespace, "portForward=true")
	nodes, err := l.RunningNodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		rule := []string{"INPUT", "-p", "tcp", "--dport", "9474", "!", "-i", "lo", "-j", "DROP"}
		if _, err := n.Exec(t.Context(), append([]string{"iptables", "-I"}, rule...)...); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = n.Exec(context.WithoutCancel(t.Context()), append([]string{"iptables", "-D"}, rule...)...)
		})
	}
	if not := notChecked(t, l, ""); len(not) < len(nodes) {
		t.Errorf("through a closed port: only these tables were not read: %q", not)
	}
	if not := notChecked(t, l, "", "--port-forward"); len(not) > 0 {
		t.Errorf("by port-forward: not read: %q", not)
	}
	repaired(t, l, "--port-forward")
	kubectl(t, l, "create", "serviceaccount", "on-call")
	kubectl(t, l, "create", "rolebinding", "on-call", "--role=plumbline-user", "--serviceaccount="+lab.AgentNamespace+":on-call")
	kubectl(t, l, "apply", "-f", filepath.Join(filepath.Dir(filepath.Dir(product.Chart(t))), "deploy", "reader.yaml"))
	kubectl(t, l, "create", "clusterrolebinding", "on-call", "--clusterrole=plumbline-reader", "--serviceaccount="+lab.AgentNamespace+":on-call")
	user := product.KubeconfigOf(t, l, lab.AgentNamespace, "on-call")
	if not := strings.Join(notChecked(t, l, user, "--port-forward"), "\n"); !strings.Contains(not, "portforward") || !strings.Contains(not, "access denied") {
		t.Errorf("without the right: %q", not)
	}
	kubectl(t, l, "create", "rolebinding", "on-call-port-forward", "--role=plumbline-port-forward", "--serviceaccount="+lab.AgentNamespace+":on-call")
	if not := notChecked(t, l, user, "--port-forward"); len(not) > 0 {
		t.Errorf("with the right: not read: %q", not)
	}
	out, err := l.Do(t.Context(), "POST", "/api/v1/namespaces/"+lab.AgentNamespace+"/pods/other/portforward", "")
	if said := string(out) + errText(err); !strings.Contains(said, "only a port-forward to an agent") {
		t.Errorf("to another pod: %s", said)
	}
}

func kubectl(t *testing.T, l *lab.Lab, args ...string) {
	t.Helper()
	if _, err := l.Kubectl(t.Context(), append([]string{"-n", lab.AgentNamespace}, args...)...); err != nil {
		t.Fatal(err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// notChecked returns the reasons why tables of nodes were not read.
func notChecked(t *testing.T, l *lab.Lab, kubeconfig string, args ...string) []string {
	t.Helper()
	args = append([]string{"check", "-o", "json", "--settle=1s"}, args...)
	if kubeconfig != "" {
		args = append(args, "--kubeconfig", kubeconfig)
	}
	out, _, err := stage.Plumbline(t.Context(), l, product.Binary(t), t.TempDir(), args...)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		NotChecked []struct{ Table, Node, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var not []string
	for _, n := range r.NotChecked {
		not = append(not, n.Node+" "+n.Table+" "+n.Reason)
	}
	return not
}
