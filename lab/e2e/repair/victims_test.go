//go:build e2e

package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/lab"
	"plumbline.dev/plumbline/lab/stage"
)

// victims are pods whose records are broken and repaired repeatedly. They must keep
// running, each with its address.
type victims struct {
	s    *stage.Stage
	pods []lab.Pod
	was  []stage.Life
}

// startVictims starts five pods, on two nodes.
func startVictims(ctx context.Context, s *stage.Stage) (*victims, error) {
	l := &victims{s: s}
	for i := range 5 {
		p, err := s.Run(ctx, stage.PodSpec{Name: fmt.Sprintf("live-%d", i), Node: fmt.Sprintf("node%d", 1+i%2)})
		if err != nil {
			return nil, err
		}
		life, err := s.Life(ctx, p.Metadata.Name)
		if err != nil {
			return nil, err
		}
		l.pods, l.was = append(l.pods, p), append(l.was, life)
	}
	return l, nil
}

// broken creates one fault of each kind; a number makes the container IDs of strangers
// unique.
func (l *victims) broken(ctx context.Context, n int) error {
	at := func(i int) lab.Pod { return l.pods[(n+i)%len(l.pods)] }
	other := map[string]string{"node1": "node2", "node2": "node1"}
	for what, f := range map[string]func(context.Context) error{
		"release": func(ctx context.Context) error { return l.s.Release(ctx, at(0)) },
		"lose":    func(ctx context.Context) error { return l.s.LoseEndpoint(ctx, at(1)) },
		"misname": func(ctx context.Context) error { return l.s.Misname(ctx, at(2), other[at(2).Spec.NodeName]) },
		"count":   func(ctx context.Context) error { return l.s.Miscount(ctx, at(3)) },
		"leak":    func(ctx context.Context) error { return l.s.Leak(ctx, at(4), stranger("leak", n)) },
		"orphan":  func(ctx context.Context) error { return l.s.Orphan(ctx, at(4), stranger("orphan", n)) },
	} {
		if err := lab.Eventually(ctx, time.Minute, f); err != nil { // the API may be slow
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// stranger is the ID of a container that never existed.
func stranger(kind string, n int) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n)))
}

// unharmed requires that each pod is as before.
func (l *victims) unharmed(ctx context.Context) error {
	var all error
	for i, p := range l.pods {
		is, err := l.s.Life(ctx, p.Metadata.Name)
		all = errors.Join(all, err, stage.Expect(is == l.was[i], "%s as it was, %+v, got %+v", p.Metadata.Name, l.was[i], is))
	}
	return all
}

// recorded requires correct records of each pod, and no incomplete write.
func (l *victims) recorded(ctx context.Context) error {
	all := l.unharmed(ctx)
	for _, p := range l.pods {
		all = errors.Join(all, l.s.Recorded(ctx, p.Metadata.Name))
	}
	return errors.Join(all, l.s.Unique(ctx, l.s.Namespace), l.s.Intact(ctx))
}
