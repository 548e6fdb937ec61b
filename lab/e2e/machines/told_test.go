//go:build e2e

package machines

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// toldBy requires a verdict about a pod, with lines of the machine's journal.
//
// An agent reads logs for five seconds, which may be too short on a slow machine, and says so: then it is asked again.
func (b *bench) toldBy(ctx context.Context, cause, ns, pod string) error {
	return lab.Eventually(ctx, b.Scale(15*time.Second), func(ctx context.Context) error { return b.toldOnce(ctx, cause, ns, pod) })
}

func (b *bench) toldOnce(ctx context.Context, cause, ns, pod string) error {
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
