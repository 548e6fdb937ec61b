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
