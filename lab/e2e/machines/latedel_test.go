//go:build e2e

package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	latedel "plumbline.dev/plumbline/lab/scenarios/late-del"
	"plumbline.dev/plumbline/lab/stage"
)

// TestLateDEL: on a machine, whose kubelet and containerd log to journald only, timeline tells
// through the agents the same story as on a namespace node.
func TestLateDEL(t *testing.T) {
	b := start(t, 1)
	look := func(ctx context.Context, _ *stage.Stage, moment string, _ []string) error {
		if moment != "released" {
			return nil
		}
		return b.toldBy(ctx, "late DEL", "late-del", "etcd1-0")
	}
	o := stage.Options{Tell: func(s string) { t.Log(s) }, Check: look, Keep: true, Agents: true, On: b.machine.Index}
	if err := stage.Play(t.Context(), b.Lab, latedel.Scenario, o); err != nil {
		t.Error(err)
	}
}

// toldBy requires a verdict about a pod, with lines of the machine's journal.
func (b *bench) toldBy(ctx context.Context, cause, ns, pod string) error {
	out, _, err := stage.Plumbline(ctx, b.Lab, b.bin, b.state, "timeline", "-o", "json", "pod", pod, "-n", ns)
	if err != nil {
		return err
	}
	var s struct {
		Stories []struct {
			Verdicts []struct {
				Cause string
				Lines []string
			}
			Events []struct{ Source, Kind string }
		}
		NotRead []string
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		return err
	}
	b.t.Logf("not read: %q", s.NotRead)
	for _, story := range s.Stories {
		sources := map[string]int{}
		for _, e := range story.Events {
			sources[e.Source]++
		}
		b.t.Logf("events by source: %v", sources)
		for _, v := range story.Verdicts {
			b.t.Logf("from the agents: %s, %q", v.Cause, v.Lines)
			if v.Cause == cause && sources["kubelet"] > 0 && strings.Contains(fmt.Sprint(v.Lines), b.machine.Name+":/") {
				return nil
			}
		}
	}
	return fmt.Errorf("no %s with lines of %s in %.2000s", cause, b.machine.Name, out)
}
