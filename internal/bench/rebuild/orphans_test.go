//go:build e2e

package rebuild

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/lab"
)

var orphans = flag.Int("orphans", 500, "how many handles that no allocation uses, for TestLabOrphans")

// The limits for a removal of that many handles.
const (
	mostNodeLists = 10
	mostCPU       = 2.0 // of the API server, compared with bare deletions at the same rate
	mostTime      = 1.2 // compared with what the budget of handles a second allows
)

// TestLabOrphans removes tens of thousands of handles that no allocation uses. Each needs that
// no node has its container.
func TestLabOrphans(t *testing.T) {
	l := lab.Start(t, lab.Config{ControlPlaneOnly: true})
	r := &report{}
	defer func() { t.Log(r.String()) }()
	c := fill(t, l, r)
	c.staff(t, r)
	c.healthy(t, r)
	server := c.serverOf(t)

	bare := min(*orphans, 5000)
	c.orphan(t, r, bare, 1)
	perBare := c.deletesBare(t, r, server) / time.Duration(bare)

	c.orphan(t, r, *orphans, 2)
	c.run(t, r, "check", "--settle=1s", "-o", "json")
	file := filepath.Join(c.state, "orphans.json")
	c.run(t, r, "plan", "--allow-mass-change", "--settle=1s", "--save", file)

	before, cpu := c.requests(t), cpuOf(t, server)
	got := c.run(t, r, "apply", "-f", file)
	cpu = cpuOf(t, server) - cpu
	if got.exit != 0 {
		t.Errorf("apply: exit %d\n%.6000s", got.exit, got.text)
	}
	after := c.requests(t)
	for _, k := range slices.Sorted(maps.Keys(after)) {
		if n := after[k] - before[k]; n > 0 {
			r.add("requests: "+k, fmt.Sprint(n), "")
		}
	}
	if lists := after["LIST nodes"] - before["LIST nodes"]; lists > mostNodeLists {
		t.Errorf("%d LISTs of nodes", lists)
	}
	ratio := float64(cpu) / float64(perBare*time.Duration(*orphans))
	r.add("API server's CPU during apply", short(cpu), fmt.Sprintf("%.2f of the bare deletions'", ratio))
	if ratio > mostCPU {
		t.Errorf("the API server needs %.2f times the CPU of bare deletions", ratio)
	}
	allowed := time.Duration(float64(*orphans) / execute.Default.Handles * float64(time.Second))
	r.add("time, of what the budget allows", fmt.Sprintf("%.2f", float64(got.took)/float64(allowed)), short(allowed))
	if float64(got.took) > mostTime*float64(allowed)+float64(20*time.Second) {
		t.Errorf("apply took %s, the budget allows %s", got.took, allowed)
	}
	if left := c.orphansLeft(t); left > 0 {
		t.Errorf("%d handles are left", left)
	}
}

// orphanPrefix starts the IDs of handles that no allocation uses.
const orphanPrefix = network + ".0dead0"

// orphan creates handles that no allocation uses, of containers that no node has.
func (c *cluster) orphan(t *testing.T, r *report, n int, stream uint64) {
	t.Helper()
	began, random := time.Now(), rand.New(rand.NewPCG(*seed, stream))
	all := make([]*handle, n)
	for i := range all {
		id := orphanPrefix + containerID(random)[6:]
		cidr := c.hosts[i%len(c.hosts)].block().String()
		all[i] = &handle{APIVersion: "crd.projectcalico.org/v1", Kind: "IPAMHandle", Metadata: map[string]any{"name": id}, Spec: handleSpec{Block: map[string]int{cidr: 1}, ID: id}}
	}
	each(t, all, func(ctx context.Context, h *handle) error { return create(ctx, c, "ipamhandles", h) })
	r.add("handles without allocation", short(time.Since(began)), fmt.Sprint(n))
}

// deletesBare deletes them one after the other at the rate of the budget, and returns the API
// server's CPU time. Like any writer it reads each and deletes it at its revision.
func (c *cluster) deletesBare(t *testing.T, r *report, server int) time.Duration {
	t.Helper()
	var names []string
	list(t, c, "ipamhandles", func(h *handle) {
		if strings.HasPrefix(h.Spec.ID, orphanPrefix) {
			names = append(names, h.name())
		}
	})
	began, cpu := time.Now(), cpuOf(t, server)
	for i, name := range names {
		time.Sleep(time.Until(began.Add(time.Duration(float64(i) / execute.Default.Handles * float64(time.Second)))))
		b, err := c.ask(t.Context(), http.MethodGet, calicoPath+"ipamhandles/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		var h handle
		if err := json.Unmarshal(b, &h); err != nil {
			t.Fatal(err)
		}
		at, err := json.Marshal(map[string]any{"preconditions": map[string]any{"uid": h.Metadata["uid"], "resourceVersion": h.Metadata["resourceVersion"]}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.ask(t.Context(), http.MethodDelete, calicoPath+"ipamhandles/"+name, at); err != nil {
			t.Fatal(err)
		}
	}
	cpu = cpuOf(t, server) - cpu
	r.add("bare deletions", short(time.Since(began)), fmt.Sprintf("%d, API server %s CPU", len(names), short(cpu)))
	return cpu
}

func (c *cluster) orphansLeft(t *testing.T) (n int) {
	t.Helper()
	list(t, c, "ipamhandles", func(h *handle) {
		if strings.HasPrefix(h.Spec.ID, orphanPrefix) {
			n++
		}
	})
	return n
}
