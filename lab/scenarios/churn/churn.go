// Package churn plays no incident: it makes pods come and go as fast as the machine
// can, in every way they do, with no fault. Nothing may ever be found here.
package churn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// Scenario is the churn.
var Scenario = stage.Scenario{
	Name: "churn", Title: "no fault, at the highest rate",
	Nodes: 3, Modes: stage.Both, Run: run,
}

const defaultTime = 2 * time.Minute

// A churner counts what its workers do.
type churner struct {
	*stage.Stage
	pods     atomic.Int64 // that were started and have ended
	restarts atomic.Int64 // sandboxes killed and replaced
	nodes    atomic.Int64 // added and removed
	parts    atomic.Int64 // Felix, kube-controllers, slow API
	others   []string     // devices that were there before
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
	// The rate is that of the time in which all workers are at it; what is under way
	// at its end is still finished.
	inTime := make(chan int64, 1)
	time.AfterFunc(s.For, func() { inTime <- c.pods.Load() })
	if err := c.work(ctx); err != nil {
		return err
	}
	n := <-inTime
	s.Say("%d pods came and went in %.0f s: %.2f a second", n, s.For.Seconds(), float64(n)/s.For.Seconds())
	s.Say("%d sandboxes were killed and replaced, %d nodes added and removed, %d times a part restarted or the API slow",
		c.restarts.Load(), c.nodes.Load(), c.parts.Load())
	if err := stage.Expect(c.pods.Load() > 10, "pods to come and go, got %d", c.pods.Load()); err != nil {
		return err
	}
	return c.settles(ctx)
}

// work runs every kind of worker until time is up. A worker that is in the middle of
// something finishes it.
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

// settles: when all is over, the three books must agree again by themselves.
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
		if err := stage.Expect(slices.Equal(devs, c.others), "no cali* device but %q, got %q", c.others, devs); err != nil {
			return err
		}
		out, err := c.Problems(ctx)
		if err != nil {
			return err
		}
		return stage.Expect(strings.Contains(out, "found 0 problems"), "calicoctl ipam check to find nothing, got:\n%s", out)
	})
}

// devices lists the cali* devices of all nodes, as NODE/DEVICE.
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
