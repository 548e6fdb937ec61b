package lab

import (
	"os"
	"strings"
	"testing"
)

func TestAgentImageIsReplacedInTheProductsManifest(t *testing.T) {
	t.Parallel()
	for file, containers := range map[string]int{"agent.yaml": 1, "repair.yaml": 1, "guard.yaml": 2} {
		text, err := os.ReadFile("../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		const ref = agentImage + ":lab-0123456789ab"
		got, err := withImage(string(text), ref)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(got, "image: "+ref+"\n"); n != containers {
			t.Errorf("%s: the manifest has the new image %d times", file, n)
		}
		if strings.Contains(got, agentImage+":dev") {
			t.Errorf("%s: the manifest still has the old image", file)
		}
		if a, b := strings.Count(got, "\n"), strings.Count(string(text), "\n"); a != b {
			t.Errorf("%s: %d lines became %d", file, b, a)
		}
	}
}

func TestManifestWithoutAgentImageIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"none": "kind: DaemonSet\n", "another's": "image: example.com/" + agentImage + "-x:1\n"} {
		if _, err := withImage(text, "x:1"); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, text := range []string{"image: \"" + agentImage + ":1\"\n", "image: " + agentImage + "@sha256:ab\n"} {
		if got, err := withImage(text, "x:1"); err != nil || got != "image: x:1\n" {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

func TestRolloutIsDoneWhenEveryNodeHasTheNewestAgent(t *testing.T) {
	t.Parallel()
	whole := func() (d daemonSet) {
		d.Metadata.Generation, d.Status.ObservedGeneration = 2, 2
		d.Status.DesiredNumberScheduled, d.Status.UpdatedNumberScheduled, d.Status.NumberReady = 3, 3, 3
		return d
	}
	if err := whole().done(3); err != nil {
		t.Errorf("complete rollout: %v", err)
	}
	for name, spoil := range map[string]func(*daemonSet){
		"an old generation was observed": func(d *daemonSet) { d.Status.ObservedGeneration = 1 },
		"a node gets none":               func(d *daemonSet) { d.Status.DesiredNumberScheduled = 2 },
		"one has an old agent":           func(d *daemonSet) { d.Status.UpdatedNumberScheduled = 2 },
		"one is not ready":               func(d *daemonSet) { d.Status.NumberReady = 2 },
	} {
		d := whole()
		spoil(&d)
		if d.done(3) == nil {
			t.Errorf("%s: done", name)
		}
	}
}
