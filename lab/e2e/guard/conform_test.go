//go:build e2e

package guard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

var conforms = flag.Int("conform", 10, "number of random sequences of calls on real Calico")

// atOnce is how many sequences run in parallel.
const atOnce = 6

// TestConform calls the guard of one node in any order, repeatedly, in parallel, and
// kills it in the middle. After every step Calico's state equals the model's: no owner
// loses anything, a newer owner is not touched; and nothing that was released is kept,
// at the latest when the guard daemon has processed the queue.
func TestConform(t *testing.T) {
	l := start(t, lab.Config{Nodes: 1, Datastore: lab.KDD, BlockSize: 24}, "enforce")
	c := &conform{}
	sc := stage.Scenario{Name: "conform", Run: func(ctx context.Context, s *stage.Stage) (err error) {
		if c.n, err = s.Node(ctx, 1); err != nil {
			return err
		}
		if c.ways, err = waysTo(c.n); err != nil {
			return err
		}
		c.Stage, c.count = s, map[string]int{}
		if err := c.n.Stop(ctx, lab.Kubelet); err != nil { // only this test uses the pods
			return err
		}
		return c.run(ctx)
	}}
	if err := stage.Play(t.Context(), l, sc, stage.Options{Tell: func(s string) { t.Log(s) }, Keep: true}); err != nil {
		t.Error(err)
		return
	}
	if err := c.workedOff(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.nothing(t.Context()); err != nil {
		t.Error(err)
	}
	c.judge(t)
}

// A conform runs all sequences on one node.
type conform struct {
	*stage.Stage
	n    *lab.Node
	ways []way // without the guard, with the guard

	mu    sync.Mutex
	count map[string]int // of steps
	all   []*sequence
}

// run runs the sequences. The last ones leave running sandboxes: queued DELs must not
// touch them.
func (c *conform) run(ctx context.Context) error {
	began := time.Now()
	next, errs := make(chan int), make(chan error, *conforms)
	var wg sync.WaitGroup
	for range min(atOnce, *conforms) {
		wg.Go(func() {
			for i := range next {
				if err := c.play(ctx, i); err != nil {
					errs <- fmt.Errorf("sequence %d: %w", i, err)
				}
			}
		})
	}
	for i := range *conforms {
		next <- i
	}
	close(next)
	wg.Wait()
	close(errs)
	var failed []error
	for err := range errs {
		failed = append(failed, err)
	}
	c.Say("%d sequences in %.0f s: %v", *conforms, time.Since(began).Seconds(), c.count)
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return c.outlive(ctx)
}

func (c *conform) play(ctx context.Context, i int) error {
	s := &sequence{
		conform: c, i: i, r: rand.New(rand.NewPCG(7, uint64(i))), survives: i >= *conforms-max(2, *conforms/10),
		version: []string{"0.3.1", "0.4.0", "1.0.0"}[i%3],
		uid:     map[string]string{}, last: map[string]*box{}, named: map[string]bool{},
	}
	c.mu.Lock()
	c.all = append(c.all, s)
	c.mu.Unlock()
	for j := range 2 + s.r.IntN(2) {
		pod := fmt.Sprintf("s%d-%d", i, j)
		s.pods = append(s.pods, pod)
		if err := s.create(ctx, pod); err != nil {
			return err
		}
	}
	for range 3 + s.r.IntN(4) {
		err := s.step(ctx)
		if err == nil {
			err = s.compare(ctx)
		}
		if err != nil {
			return s.with(err)
		}
	}
	return s.with(s.end(ctx))
}

// outlive waits until all queued DELs were tried, and checks the running sandboxes. Then
// they are deleted too.
func (c *conform) outlive(ctx context.Context) error {
	began := time.Now()
	err := lab.Eventually(ctx, 5*time.Minute, func(context.Context) error {
		_, queue, err := c.record()
		if err != nil {
			return err
		}
		for _, l := range queue {
			if l.Tries == 0 {
				return fmt.Errorf("%.12s (%s) was not tried yet: %s", l.Container, l.Pod, l.Why)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Say("all queued DELs were tried after %.0f s", time.Since(began).Seconds())
	for _, s := range c.all {
		if err := s.with(s.over(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// over checks the sandboxes that remained after their sequence, and deletes them.
func (s *sequence) over(ctx context.Context) error {
	for _, b := range s.boxes { // the queue was processed
		if b.unsure {
			b.unsure, b.held = false, false
		}
	}
	if err := s.compare(ctx); err != nil {
		return err
	}
	for _, b := range s.boxes {
		if !b.held {
			continue
		}
		s.add("survivor")
		if err := s.check(b); err != nil {
			return err
		}
		if err := s.del(b); err != nil {
			return err
		}
	}
	return s.compare(ctx)
}

func (c *conform) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count[what]++
}
