//go:build e2e

package guard

import (
	"context"
	"fmt"
	"testing"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// outWithin is how long a program that does not run may stay in the CNI configuration.
const outWithin = time.Minute

// fails has the guard's program fail whenever it is started, while pods start: it is taken out of
// the CNI configuration, all pods run, and the kubelet's attempts fail only until then.
func fails(ctx context.Context, t *testing.T, s *stage.Stage) error {
	n, err := s.Node(ctx, 2)
	if err != nil {
		return err
	}
	run := func(i int) error {
		name := fmt.Sprintf("p%d", i)
		if _, err := s.Run(ctx, stage.PodSpec{Name: name, Node: n.Name}); err != nil {
			return err
		}
		return s.Delete(ctx, name)
	}
	if err := run(0); err != nil {
		return err
	}
	const program = "/opt/cni/bin/plumbline-cni"
	// The guard daemon cannot replace a file that is immutable.
	if _, err := n.Exec(ctx, "sh", "-c", "cp /bin/false "+program+".new && mv "+program+".new "+program+" && chattr +i "+program); err != nil {
		return err
	}
	began := time.Now()
	mended := func() { _, _ = n.Exec(context.WithoutCancel(ctx), "chattr", "-i", program) }
	defer mended()
	churned := make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			if err := run(i); err != nil || time.Since(began) > 2*outWithin {
				churned <- err
				return
			}
		}
	}()
	if err := lab.Eventually(ctx, 2*outWithin, func(context.Context) error {
		files := naming(t, n)
		return stage.Expect(len(files) == 0, "the guard to be taken out of %q", files)
	}); err != nil {
		return err
	}
	out := time.Since(began)
	s.Say("a program that does not run is taken out after %.1f s", out.Seconds())
	if err := stage.Expect(out <= outWithin, "that within %s, it took %s", outWithin, out); err != nil {
		return err
	}
	failed, err := failedSandboxes(ctx, s)
	if err != nil {
		return err
	}
	if err := <-churned; err != nil {
		return err
	}
	later, err := failedSandboxes(ctx, s)
	if err != nil {
		return err
	}
	s.Say("the kubelet reports failed attempts until then: %q", failed)
	if err := stage.Expect(len(later) == len(failed), "no failed attempt after that, got %q", later); err != nil {
		return err
	}
	r, err := reported(n)
	if err != nil {
		return err
	}
	if err := stage.Expect(r.Why != "", "the guard daemon to say why, got %+v", r); err != nil {
		return err
	}
	s.Say("the guard daemon says: %s", r.Why)
	mended()
	return nil
}
