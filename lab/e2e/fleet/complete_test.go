//go:build e2e

package fleet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plumbline.dev/plumbline/lab/e2e/outside"
)

// Findings are completed from the controller's objects: without it, there are none.
const finding = `{"apiVersion": "plumbline.dev/v1alpha1", "kind": "Finding", "metadata": {"name": "pl2001.shop"}, "spec": {"code": "PL2001", "in": {"kind": "Namespace", "name": "shop"}}}`

const pod = `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s"}, "spec": {"containers": [{"name": "c", "image": "none"}]}}`

// named makes objects whose names are completed.
func named(t *testing.T, lab string) {
	t.Helper()
	crd, err := os.ReadFile("../../../charts/plumbline/files/crds/plumbline.dev_findings.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apply(t, lab, string(crd))
	outside.Must(t, "kubectl", "--name", lab, "wait", "--for=condition=Established", "--timeout=60s", "crd/findings.plumbline.dev")
	apply(t, lab, finding)
	outside.Must(t, "kubectl", "--name", lab, "patch", "finding", "pl2001.shop", "--subresource=status", "--type=merge", "-p", `{"status": {"count": 1, "samples": [{"subject": "shop/db-0"}]}}`)
	// The controller that makes it does not run here.
	apply(t, lab, `{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"}}`)
	for _, name := range []string{"db-0", "web-1"} {
		apply(t, lab, fmt.Sprintf(pod, name))
	}
}

// completes asks bash what it would offer, with the script that users load.
func completes(t *testing.T, kubeconfig string) {
	t.Helper()
	named(t, "fleet-a")
	script, _, _ := plumbline(t, kubeconfig, "completion", "bash")
	file := filepath.Join(t.TempDir(), "completion")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	bin, err := filepath.Abs("../../../bin")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"plumbline explain PL200":                      "PL2001",
		"plumbline --context fleet-a explain node w":   "w17",
		"plumbline --context fleet-a check --node w":   "w17",
		"plumbline --context fleet-a check -n kube-s":  "kube-system",
		"plumbline --context fl":                       "fleet-b",
		"plumbline --context gone explain node w":      "", // does not answer, and nothing is said
		"plumbline check -o js":                        "jsonpath=",
		"plumbline --context fleet-a explain pod -n d": "default",

		"plumbline --context fleet-a explain PL2001/":           "PL2001/shop/db-0",
		"plumbline --context fleet-a plan PL":                   "PL2001/shop/db-0",
		"plumbline --context fleet-b explain PL2001/":           "", // no controller
		"plumbline --context fleet-a explain pod -n default db": "db-0",
		"plumbline --context fleet-a explain pod -n default x":  "",
	} {
		words := strings.Fields(line)
		cmd := exec.CommandContext(t.Context(), "bash", "-c", fmt.Sprintf(
			`source /usr/share/bash-completion/bash_completion; source %s; COMP_WORDS=(%s); COMP_CWORD=%d; COMP_LINE=%q; COMP_POINT=%d; COMP_TYPE=9; __start_plumbline; printf '%%s\n' "${COMPREPLY[@]}"`,
			file, line, len(words)-1, line, len(line)))
		cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + bin + ":" + os.Getenv("PATH")}
		out, err := cmd.Output() // compopt complains that no key was pressed
		if err != nil || !strings.Contains(string(out), want) || want == "" && strings.TrimSpace(string(out)) != "" || strings.Contains(line, " db") && strings.Contains(string(out), "web-1") {
			t.Errorf("%s: %q, %v", line, out, err)
		}
	}
}
