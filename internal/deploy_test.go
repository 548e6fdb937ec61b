package internal_test

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"plumbline.dev/plumbline/internal/repair/change"
)

// TestSeatsAreKept: a priority level that lends every seat has none while it is idle, and gets
// one at the API server's next share-out. The first token of a check would wait for that up to
// ten seconds, longer than an agent asks, and the node would be called silent.
func TestSeatsAreKept(t *testing.T) {
	lends := regexp.MustCompile(`lendablePercent: *(\d+)`)
	for _, file := range []string{"../charts/plumbline/templates/flow.yaml", "../deploy/agent.yaml", "../deploy/repair.yaml", "../deploy/guard.yaml"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := lends.FindAllSubmatch(b, -1)
		if len(found) == 0 {
			t.Errorf("%s has no priority level", file)
		}
		for _, m := range found {
			if percent, err := strconv.Atoi(string(m[1])); err != nil || percent > 80 {
				t.Errorf("%s lends %s %% of its seats", file, m[1])
			}
		}
	}
}

// TestRailsAgree: the policy allows as many addresses in one write as a step may take.
func TestRailsAgree(t *testing.T) {
	allowed := regexp.MustCompile(`variables\.taken <= (\d+)`)
	for _, file := range []string{"../deploy/repair.yaml", "../deploy/guard.yaml"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if m := allowed.FindSubmatch(b); m == nil || string(m[1]) != strconv.Itoa(change.MaxTaken) {
			t.Errorf("%s allows %q, a step takes up to %d", file, m, change.MaxTaken)
		}
	}
}

// Helm keeps the CRDs, and with them what people wrote (docs/install.md). They are there only with the controller.
func TestCRDsAreKept(t *testing.T) {
	t.Parallel()
	kept := 0
	for doc := range strings.SplitSeq(manifests(t), "\n---\n") {
		var o struct {
			Kind     string
			Metadata struct {
				Name        string
				Annotations map[string]string
			}
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		if o.Kind != "CustomResourceDefinition" {
			continue
		}
		if kept++; o.Metadata.Annotations["helm.sh/resource-policy"] != "keep" {
			t.Errorf("helm uninstall removes %s", o.Metadata.Name)
		}
	}
	if kept != 3 {
		t.Errorf("%d CRDs", kept)
	}
	if b, err := os.ReadFile("../deploy/agent.yaml"); err != nil || strings.Contains(string(b), "kind: CustomResourceDefinition") {
		t.Errorf("CRDs without the controller, or %v", err)
	}
}

// TestReusedValues: helm upgrade --reuse-values renders a chart with the values of an older one, which had no such keys, and
// one where it is not any more.
func TestReusedValues(t *testing.T) {
	t.Parallel()
	out := manifests(t, "logFormat=null", "monitoring.agents=null", "monitoring.podMonitor.enabled=true", "controller.logFormat=json")
	for line, want := range map[string]int{"--log-format=text\n": 2, "--log-format=json\n": 1, "--metrics=": 0} {
		if n := strings.Count(out, line); n != want {
			t.Errorf("%q stands there %d times, want %d", line, n, want)
		}
	}
}
