package internal_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Values that would render nothing are refused, and it is said what they need.
func TestChartValues(t *testing.T) {
	t.Parallel()
	for values, needs := range map[string]string{
		"monitoring.rules.enabled=true":                                     "controller.enabled=true",
		"monitoring.dashboard.enabled=true":                                 "controller.enabled=true",
		"monitoring.podMonitor.enabled=true":                                "monitoring.agents.enabled=true",
		"monitoring.podMonitor.enabled=true,monitoring.agents.enabled=true": "",
		"monitoring.rules.enabled=true,controller.enabled=true":             "",
	} {
		helm := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/helm/go.mod", "helm", "template", "plumbline", "charts/plumbline", "--set", values)
		helm.Dir = ".."
		out, err := helm.CombinedOutput()
		if refused := err != nil; refused != (needs != "") || refused && !strings.Contains(string(out), needs) {
			t.Errorf("%s: %v, %.300s", values, err, out)
		}
	}
}

// Below Kubernetes 1.30 nothing limits the accounts of the chart: it refuses, unless that is asked for.
func TestChartWithoutPolicies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, values string
		ok              bool
	}{{"1.30", "", true}, {"1.36", "", true}, {"1.29", "", false}, {"1.24", "", false}, {"1.29", "withoutPolicies=true", true}, {"1.24", "withoutPolicies=true", true}} {
		helm := exec.CommandContext(t.Context(), "go", "tool", "-modfile=tools/helm/go.mod", "helm", "template", "plumbline", "charts/plumbline", "--kube-version", c.version, "--set", c.values)
		helm.Dir = ".."
		out, err := helm.CombinedOutput()
		if (err == nil) != c.ok || !c.ok && !strings.Contains(string(out), "withoutPolicies=true") {
			t.Errorf("%s %s: %v: %.400s", c.version, c.values, err, out)
		}
		if n := strings.Count(string(out), "kind: ValidatingAdmissionPolicy\n"); c.ok && (n > 0) != (c.values == "") {
			t.Errorf("%s %s: %d policies", c.version, c.values, n)
		}
		if c.ok && (!strings.Contains(string(out), "preemptionPolicy: Never") || !strings.Contains(string(out), "priorityClassName: plumbline-agent")) {
			t.Errorf("%s: agents may preempt", c.version)
		}
	}
}
