//go:build e2e

package guard

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// workedOff waits until the queue is empty.
func (c *conform) workedOff(ctx context.Context) error {
	return lab.Eventually(ctx, 6*time.Minute, func(context.Context) error {
		r, err := reported(c.n)
		if err != nil {
			return err
		}
		_, queue, err := c.record()
		if err != nil {
			return err
		}
		return stage.Expect(len(queue) == 0 && r.Queue == 0 && r.Lost == 0, "an empty queue and nothing lost, got %+v, %v", r, queue)
	})
}

// nothing requires that no address, handle, endpoint or ownership record remains.
func (c *conform) nothing(ctx context.Context) error {
	held, handles, err := c.allocations(ctx)
	if err != nil {
		return err
	}
	owners, queue, err := c.record()
	if err != nil {
		return err
	}
	errs := []error{}
	for _, s := range c.all {
		for _, b := range s.boxes {
			state := owners[b.id].State
			if _, owed := queue[b.id]; owed || len(held[handleOf(b)]) > 0 || handles[handleOf(b)] || state == "added" || state == "adding" {
				errs = append(errs, s.with(fmt.Errorf("%s remains: %q, handle %v, recorded as %q, queued %v", b, held[handleOf(b)], handles[handleOf(b)], state, owed)))
			}
		}
	}
	pods, err := c.Pods(ctx, c.Namespace, "")
	for i := range pods {
		if ip := pods[i].Metadata.Annotations["cni.projectcalico.org/podIP"]; ip != "" {
			errs = append(errs, fmt.Errorf("%s still has %s", pods[i].Metadata.Name, ip))
		}
	}
	return errors.Join(append(errs, err)...)
}

// judge requires that no late DEL was passed to Calico, and that no newer owner lost
// anything.
func (c *conform) judge(t *testing.T) {
	all, err := events(c.n)
	if err != nil {
		t.Fatal(err)
	}
	rules, trouble := map[string]int{}, map[string]int{}
	for _, e := range all {
		if e.Namespace != c.Namespace {
			continue
		}
		rules[fmt.Sprintf("%s %d", e.Verb, e.Rule)]++
		if e.Late && e.Called || len(e.Lost) > 0 || e.Late && e.Keyed != "both" {
			t.Errorf("late and passed to Calico, or lost: %s", e)
		}
		for _, text := range e.Trouble {
			trouble[text]++
		}
	}
	t.Logf("how often each rule applied: %v", rules)
	for _, text := range slices.Sorted(maps.Keys(trouble)) {
		t.Logf("error: %d times %s", trouble[text], text)
	}
	for _, rule := range []string{"ADD 1", "DEL 4", "DEL 5"} {
		if rules[rule] == 0 {
			t.Errorf("%s never applied", rule)
		}
	}
}
