//go:build e2e

package agents

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab/stage"
)

// find looks a pod of the last node up, by something that a person may have in hand.
func (c *cluster) find(t *testing.T, r *report, kind string) time.Duration {
	t.Helper()
	bin, err := filepath.Abs(*binary)
	if err != nil {
		t.Fatal(err)
	}
	h := c.hosts[len(c.hosts)-1]
	f := h.state
	box := f.Sandboxes[0]
	name := map[string]string{
		"sandbox": box.ID, "pid": fmt.Sprintf("%s/%d", h.name, box.PID), "handle": "k8s-pod-network." + box.ID,
	}[kind]
	for i := range f.Attachments {
		if f.Attachments[i].Sandbox != box.ID {
			continue
		}
		for j := range f.Links {
			switch l := &f.Links[j]; {
			case l.Index != f.Attachments[i].Peer:
			case kind == "device":
				name = l.Name
			case kind == "mac":
				name = f.Attachments[i].MAC
			}
		}
	}
	began := time.Now()
	out, code, err := stage.Plumbline(t.Context(), c.Lab, bin, c.state, "explain", kind, name)
	took := time.Since(began)
	if err != nil || code != 0 || !strings.Contains(out, box.Namespace+"/"+box.Pod) {
		t.Errorf("explain %s %s: exit code %d, %v\n%s", kind, name, code, err, out)
	}
	r.add("explain "+kind, fmt.Sprintf("%.2fs", took.Seconds()), "load "+load1())
	return took
}
