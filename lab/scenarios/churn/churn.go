// Package churn has no fault: it starts and ends pods as fast as the machine can, in
// many ways. Plumbline must not report a finding at any time.
package churn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the churn.
var Scenario = stage.Scenario{
	Name: "churn", Title: "no fault; pods start and end at the highest rate",
	Nodes: 3, Modes: stage.Both, Run: run, ByCause: true,
}

const defaultTime = 2 * time.Minute

// A churner counts what its workers do.
type churner struct {
	*stage.Stage
	pods     atomic.Int64 // started and ended
	restarts atomic.Int64 // sandboxes killed and replaced
	nodes    atomic.Int64 // added and removed
	parts    atomic.Int64 // Felix, kube-controllers, slow API
	others   []string     // interfaces that existed before
}

func run(ctx context.Context, s *stage.Stage) error {
	if s.For == 0 {
		s.For = defaultTime
	}
	c := &churner{Stage: s}
	var err error
	if c.others, err = c.devices(ctx); err != nil {
		return err
	}
	if err := c.statefulSets(ctx); err != nil {
		return err
	}
	// The rate counts only the time in which all workers run; pods in progress at its end
	// still finish.
	inTime := make(chan int64, 1)
	time.AfterFunc(s.For, func() { inTime <- c.pods.Load() })
	if err := c.work(ctx); err != nil {
		return err
	}
	n := <-inTime
	s.Say("%d pods started and ended in %.0f s: %.2f per second", n, s.For.Seconds(), float64(n)/s.For.Seconds())
	s.Say("%d sandboxes were killed and replaced, %d nodes added and removed, %d times a component restarted or the API slow",
		c.restarts.Load(), c.nodes.Load(), c.parts.Load())
	if err := stage.Expect(c.pods.Load() > 10, "pods to start and end, got %d", c.pods.Load()); err != nil {
		return err
	}
	return c.settles(ctx)
}

// work runs every kind of worker until the time is up. A worker finishes its current
// cycle.
func (c *churner) work(ctx context.Context) error {
	deadline := time.Now().Add(c.For)
	kinds := []func(context.Context, string, int) error{c.plain, c.plain, c.plain, c.plain, c.job, c.job, c.failing, c.returning, c.killSandbox}
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	loop := func(f func(i int) error) {
		wg.Go(func() {
			for i := 0; time.Now().Before(deadline) && ctx.Err() == nil; i++ {
				if err := f(i); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for n := 1; n <= c.Nodes; n++ {
		node := fmt.Sprintf("node%d", n)
		for k, f := range kinds {
			loop(func(i int) error { return f(ctx, node, k*100000+i) })
		}
	}
	loop(func(int) error { return c.comeAndGo(ctx) })
	loop(func(i int) error { return c.disturb(ctx, i) })
	wg.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

// settles: after the churn, Kubernetes, the Calico datastore and the nodes must agree
// again by themselves.
func (c *churner) settles(ctx context.Context) error {
	if _, err := c.Kubectl(ctx, "-n", c.Namespace, "delete", "statefulsets,jobs,pods", "--all", "--wait=false"); err != nil {
		return err
	}
	return lab.Eventually(ctx, 4*time.Minute, func(ctx context.Context) error {
		pods, err := c.Pods(ctx, c.Namespace, "")
		if err != nil {
			return err
		}
		if err := stage.Expect(len(pods) == 0, "no pod, got %d", len(pods)); err != nil {
			return err
		}
		devs, err := c.devices(ctx)
		if err != nil {
			return err
		}
		if err := stage.Expect(slices.Equal(devs, c.others), "no cali* interface but %q, got %q", c.others, devs); err != nil {
			return err
		}
		out, err := c.Problems(ctx)
		if err != nil {
			return err
		}
		return stage.OnlyHeld(out)
	})
}

// devices lists the cali* interfaces of all nodes, as NODE/INTERFACE.
func (c *churner) devices(ctx context.Context) ([]string, error) {
	nodes, err := c.RunningNodes(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, n := range nodes {
		devs, err := stage.Devices(ctx, n)
		if err != nil {
			return nil, err
		}
		for _, d := range devs {
			all = append(all, n.Name+"/"+d)
		}
	}
	slices.Sort(all)
	return all, nil
}
