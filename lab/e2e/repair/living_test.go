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

// The living are pods whose records are broken and repaired again and again. Whatever
// happens, they run on, each with its address.
type living struct {
	s    *stage.Stage
	pods []lab.Pod
	was  []stage.Life
}

// settle down five pods, on two nodes.
func live(ctx context.Context, s *stage.Stage) (*living, error) {
	l := &living{s: s}
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

// broken makes one fault of each kind; a number makes the strangers' IDs new ones.
func (l *living) broken(ctx context.Context, n int) error {
	at := func(i int) lab.Pod { return l.pods[(n+i)%len(l.pods)] }
	other := map[string]string{"node1": "node2", "node2": "node1"}
	for what, f := range map[string]func(context.Context) error{
		"release": func(ctx context.Context) error { return l.s.Release(ctx, at(0)) },
		"rob":     func(ctx context.Context) error { return l.s.LoseEndpoint(ctx, at(1)) },
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

// stranger is the ID of a container that never was.
func stranger(kind string, n int) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n)))
}

// unharmed wants each of them as it was.
func (l *living) unharmed(ctx context.Context) error {
	var all error
	for i, p := range l.pods {
		is, err := l.s.Life(ctx, p.Metadata.Name)
		all = errors.Join(all, err, stage.Expect(is == l.was[i], "%s as it was, %+v, got %+v", p.Metadata.Name, l.was[i], is))
	}
	return all
}

// recorded wants each of them in all books, and nothing half done.
func (l *living) recorded(ctx context.Context) error {
	all := l.unharmed(ctx)
	for _, p := range l.pods {
		all = errors.Join(all, l.s.Recorded(ctx, p.Metadata.Name))
	}
	return errors.Join(all, l.s.Unique(ctx, l.s.Namespace), l.s.Intact(ctx))
}
