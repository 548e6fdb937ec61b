package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// GoesOn shows that Calico itself goes on after a repair: it gives addresses and takes
// them back on every node, and its collector, with a short grace, finds no fault.
type GoesOn struct {
	Pods, Rounds int           // so many on each node, so often
	For          time.Duration // at least, with the collector at work
	Grace        time.Duration // of the collector
}

// After has Calico go on, then looks at the books again with both tools.
func (g GoesOn) After(ctx context.Context, s *Stage, r *Repair) error {
	began := time.Now()
	if err := CollectorGrace(ctx, s, g.Grace); err != nil {
		return err
	}
	work := &Stage{Lab: s.Lab, Namespace: "goes-on", Tell: s.Tell}
	if err := work.createNamespace(ctx); err != nil {
		return err
	}
	for i := range g.Rounds {
		if err := work.comeAndGo(ctx, g.Pods, i); err != nil {
			return fmt.Errorf("round %d after the repair: %w", i+1, err)
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(g.For - time.Since(began)):
	}
	if err := r.Clean(ctx, s.Lab); err != nil {
		return fmt.Errorf("after Calico went on for %s: %w", time.Since(began).Round(time.Second), err)
	}
	if err := NoProblems(ctx, s); err != nil {
		return err
	}
	s.Say("Calico went on for %.0f s with a grace of %s, %d pods came and went on each node: clean, calicoctl ipam check too", time.Since(began).Seconds(), g.Grace, g.Pods*g.Rounds)
	return nil
}

// NoProblems wants Calico's own check to find nothing.
func NoProblems(ctx context.Context, s *Stage) error {
	return lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		out, err := s.Problems(ctx)
		if err != nil {
			return err
		}
		return Expect(strings.Contains(out, "found 0 problems"), "calicoctl ipam check to find 0 problems, got:\n%s", out)
	})
}

// CollectorGrace sets how long Calico's collector waits before it frees an address that
// seems to be nobody's; the incident's end sets it back.
func CollectorGrace(ctx context.Context, s *Stage, grace time.Duration) error {
	patch := func(ctx context.Context, d time.Duration) error {
		_, err := s.Calicoctl(ctx, "patch", "kubecontrollersconfiguration", "default", "-p", fmt.Sprintf(`{"spec":{"controllers":{"node":{"leakGracePeriod":%q}}}}`, d))
		return err
	}
	s.Cleanup(func(ctx context.Context) error { return patch(ctx, 15*time.Minute) })
	return lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error { return patch(ctx, grace) })
}

// comeAndGo creates pods on every node, has one node's ask another's, and deletes them.
func (s *Stage) comeAndGo(ctx context.Context, pods, round int) error {
	nodes, err := s.RunningNodes(ctx)
	if err != nil {
		return err
	}
	var names []string
	var manifest strings.Builder
	for _, n := range nodes {
		for i := range pods {
			name := fmt.Sprintf("new-%s-%d-%d", n.Name, round, i)
			names = append(names, name)
			manifest.WriteString(s.Manifest(PodSpec{Name: name, Node: n.Name}) + "---\n")
		}
	}
	if err := s.Apply(ctx, manifest.String()); err != nil {
		return err
	}
	var last lab.Pod
	for _, name := range names {
		if last, err = s.WaitReady(ctx, name, ""); err != nil {
			return err
		}
	}
	if err := s.Reaches(ctx, names[0], last.Status.PodIP, last.Metadata.Name); err != nil {
		return err
	}
	_, err = s.Kubectl(ctx, append([]string{"-n", s.Namespace, "delete", "--wait=false", "pods"}, names...)...)
	for _, name := range names {
		err = errors.Join(err, s.WaitGone(ctx, name))
	}
	return err
}
