package lab

import (
	"os"
	"strings"
	"testing"
)

func TestAgentImageIsReplacedInTheProductsManifest(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../deploy/agent.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const ref = agentImage + ":lab-0123456789ab"
	got, err := withImage(string(text), ref)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(got, "image: "+ref+"\n"); n != 1 {
		t.Errorf("the new image stands there %d times", n)
	}
	if strings.Contains(got, agentImage+":dev") {
		t.Error("the old image is still there")
	}
	if a, b := strings.Count(got, "\n"), strings.Count(string(text), "\n"); a != b {
		t.Errorf("%d lines became %d", b, a)
	}
}

func TestManifestWithoutOneAgentImageIsRefused(t *testing.T) {
	t.Parallel()
	line := "  image: " + agentImage + ":dev\n"
	for name, text := range map[string]string{"none": "kind: DaemonSet\n", "two": line + line, "another's": "image: example.com/" + agentImage + "-x:1\n"} {
		if _, err := withImage(text, "x:1"); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	for _, text := range []string{"image: \"" + agentImage + ":1\"\n", "image: " + agentImage + "@sha256:ab\n"} {
		if got, err := withImage(text, "x:1"); err != nil || got != "image: x:1\n" {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

func TestAgentsAreDoneWhenEveryNodeHasTheNewest(t *testing.T) {
	t.Parallel()
	whole := func() (d daemonSet) {
		d.Metadata.Generation, d.Status.ObservedGeneration = 2, 2
		d.Status.DesiredNumberScheduled, d.Status.UpdatedNumberScheduled, d.Status.NumberReady = 3, 3, 3
		return d
	}
	if err := whole().done(3); err != nil {
		t.Errorf("all are there: %v", err)
	}
	for name, spoil := range map[string]func(*daemonSet){
		"an old generation was looked at": func(d *daemonSet) { d.Status.ObservedGeneration = 1 },
		"a node is to have none":          func(d *daemonSet) { d.Status.DesiredNumberScheduled = 2 },
		"one has an old agent":            func(d *daemonSet) { d.Status.UpdatedNumberScheduled = 2 },
		"one is not ready":                func(d *daemonSet) { d.Status.NumberReady = 2 },
	} {
		d := whole()
		spoil(&d)
		if d.done(3) == nil {
			t.Errorf("%s: done", name)
		}
	}
}
