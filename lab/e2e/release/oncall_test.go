//go:build e2e

package release

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"plumbline.dev/plumbline/lab"
)

// onCall goes from an alert to a plan as a person does who knows nothing: the code's page, the object, the command that it
// names, the explanation of one finding, and the plan.
func (u user) onCall(code, subject string) {
	u.t.Helper()
	if _, err := os.Stat(filepath.Join("../../../docs/codes", code+".md")); err != nil {
		u.t.Errorf("the alert's runbook_url: %v", err)
	}
	if page := u.run(0, "explain", code); !strings.Contains(page, code) || !strings.Contains(page, "plumbline plan") {
		u.t.Errorf("the page of %s: %s", code, page)
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ Code string }
			Status   struct{ Show string }
		}
	}
	if err := json.Unmarshal([]byte(u.kubectl("get", "findings", "-o", "json")), &list); err != nil || len(list.Items) != 1 || list.Items[0].Spec.Code != code {
		u.t.Fatalf("findings: %+v %v", list, err)
	}
	f := list.Items[0]
	described := u.kubectl("describe", "finding", f.Metadata.Name)
	u.t.Logf("kubectl describe finding %s\n%s", f.Metadata.Name, described)
	for _, want := range []string{subject, f.Status.Show, "kubectl plumbline plan --code=" + code, "Repairable", "Confirmed"} {
		if !strings.Contains(described, want) {
			u.t.Errorf("kubectl describe does not say %q", want)
		}
	}
	args, ok := strings.CutPrefix(f.Status.Show, "kubectl plumbline ")
	if !ok {
		u.t.Fatalf("the object's command: %q", f.Status.Show)
	}
	if out := u.run(1, append(strings.Fields(args), "--settle=3s", "--wait")...); !strings.Contains(out, code+"/"+subject) {
		u.t.Errorf("%s: %s", f.Status.Show, out)
	}
	if out := u.run(0, "explain", code+"/"+subject); !strings.Contains(out, subject) {
		u.t.Errorf("explain: %s", out)
	}
	if out := u.run(0, "plan", "--code="+code, "--settle=3s"); !strings.Contains(out, subject) {
		u.t.Errorf("plan: %s", out)
	}
}

// restricted: of all that the chart installs, only the agents' pods ask for more than the level "restricted" of Pod Security allows.
func (u user) restricted() {
	u.t.Helper()
	cmd := exec.CommandContext(u.t.Context(), u.l.Bin("kubernetes", "kubectl"), "label", "namespace", lab.AgentNamespace, "--overwrite", "--dry-run=server", "pod-security.kubernetes.io/enforce=restricted")
	cmd.Env = append(os.Environ(), u.l.Env()...)
	said, err := cmd.CombinedOutput()
	warned := regexp.MustCompile(`Warning: (plumbline-\S+) \(and 1 other pod\):`).FindStringSubmatch(string(said))
	if err != nil || strings.Count(string(said), "Warning: plumbline-") != 1 || warned == nil || !strings.HasPrefix(warned[1], "plumbline-agent-") {
		u.t.Errorf("pods that violate the level restricted, want the two agents: %s %v", said, err)
	}
}
